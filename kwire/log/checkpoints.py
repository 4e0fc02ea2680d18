"""Kafka's small text checkpoints: version "0", the number of entries, one entry a line.

In the log directory: `recovery-point-offset-checkpoint`, `log-start-offset-checkpoint`,
`replication-offset-checkpoint` and `cleaner-offset-checkpoint`, a line is "topic partition offset".
A damaged file is worth nothing: it reads as empty, and what it said is found anew.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

from kwire.log.files import write_atomically
from kwire.types import TopicPartition

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"

_log = logging.getLogger(__name__)


def read_lines(path: Path) -> list[list[str]]:
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        _log.warning("checkpoint unreadable path=%s error=%s", path.name, error)
        return []
    lines = text.split("\n")
    entries = [line.split(" ") for line in lines[2:] if line]
    if len(lines) < 2 or lines[0] != "0" or lines[1] != str(len(entries)):
        _log.warning("checkpoint damaged path=%s", path.name)
        return []
    return entries


def write_lines(path: Path, lines: list[str], *, durable: bool = True) -> None:
    text = "\n".join(["0", str(len(lines)), *lines]) + "\n"
    write_atomically(path, text.encode(), durable=durable)


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    offsets = {}
    for entry in read_lines(path):
        if len(entry) == 3 and entry[1].isdigit() and entry[2].lstrip("-").isdigit():
            offsets[TopicPartition(entry[0], int(entry[1]))] = int(entry[2])
    return offsets


def write_offsets(path: Path, offsets: Mapping[TopicPartition, int]) -> None:
    write_lines(path, [f"{tp.topic} {tp.partition} {at}" for tp, at in sorted(offsets.items())])
