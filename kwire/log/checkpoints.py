"""Kafka's small text checkpoints: version "0", the number of entries, one entry a line.

In the log directory: `recovery-point-offset-checkpoint`, `log-start-offset-checkpoint`,
`replication-offset-checkpoint` and `cleaner-offset-checkpoint`, a line is "topic partition offset".
A damaged file is worth nothing: it reads as empty, and what it said is found anew.
"""

import logging
from collections.abc import Mapping

from kwire.log.files import read_if_there, write_atomically
from kwire.types import TopicPartition

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"

_log = logging.getLogger(__name__)


def read_lines(path: str) -> list[list[str]] | None:
    """The words of each entry; None if there is no file, or none that can be believed."""
    data = read_if_there(path)
    if not data:
        # Kafka makes empty files before it has anything to write down.
        return None
    lines = data.decode(errors="replace").split("\n")
    entries = [line.split(" ") for line in lines[2:] if line]
    if len(lines) < 2 or lines[0] != "0" or lines[1] != str(len(entries)):
        _log.warning("checkpoint damaged path=%s", path)
        return None
    return entries


def write_lines(path: str, lines: list[str], *, durable: bool = True) -> None:
    text = "\n".join(["0", str(len(lines)), *lines]) + "\n"
    write_atomically(path, text.encode(), durable=durable)


def read_offsets(path: str) -> dict[TopicPartition, int]:
    offsets = {}
    for entry in read_lines(path) or ():
        if len(entry) == 3 and entry[1].isdigit() and entry[2].isdigit():
            offsets[TopicPartition(entry[0], int(entry[1]))] = int(entry[2])
    return offsets


def write_offsets(
    path: str, offsets: Mapping[TopicPartition, int], *, durable: bool = True
) -> None:
    lines = [f"{tp.topic} {tp.partition} {offset}" for tp, offset in sorted(offsets.items())]
    write_lines(path, lines, durable=durable)
