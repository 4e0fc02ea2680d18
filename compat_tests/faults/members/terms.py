"""What every member is told on its command line, and how it tells what it does.

Members speak as Kafka's VerifiableConsumer does, one JSON object a line, so that one listener
understands them all. They add `partitions_lost`, for whoever was expelled and could not know, and
`leaving`, since not every client gives back its partitions before it says goodbye.
"""

import argparse
import json
import signal
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

SESSION_TIMEOUT_MS = 6000
HEARTBEAT_INTERVAL_MS = 300
POLL_S = 0.1
RECORDS_AT_ONCE = 200

is_leaving = threading.Event()
"""Set by SIGTERM."""


class Terms(NamedTuple):
    """An empty `instance` is a dynamic member."""

    address: str
    topic: str
    group: str
    flavour: str
    instance: str

    def words(self) -> list[str]:
        return [f"--{name}={value}" for name, value in self._asdict().items()]


def parse() -> Terms:
    """The terms of this process, which from now on leaves when it is asked to end."""
    parser = argparse.ArgumentParser()
    for name in Terms._fields:
        parser.add_argument(f"--{name}", required=True)
    signal.signal(signal.SIGTERM, lambda *_: is_leaving.set())
    return Terms(**vars(parser.parse_args()))


def tell_partitions(name: str, topic: str, partitions: Iterable[int]) -> None:
    """Partitions that were assigned, revoked or lost."""
    tell(name, partitions=[{"topic": topic, "partition": index} for index in partitions])


def tell_consumed(topic: str, first_and_last: dict[int, tuple[int, int]]) -> None:
    """Said before the commit: what is committed was read, whoever dies in between."""
    consumed = [
        {"topic": topic, "partition": index, "minOffset": first, "maxOffset": last}
        for index, (first, last) in first_and_last.items()
    ]
    tell("records_consumed", partitions=consumed)


def tell_committed(topic: str, next_offsets: dict[int, int]) -> None:
    committed = [
        {"topic": topic, "partition": index, "offset": offset}
        for index, offset in next_offsets.items()
    ]
    tell("offsets_committed", offsets=committed, success=True)


def tell(name: str, **fields: object) -> None:
    event = {"timestamp": time.time_ns() / 1_000_000, "name": name, **fields}
    print(json.dumps(event), flush=True)
