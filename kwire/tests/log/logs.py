"""A log directory for tests: filled, stopped in order, or left as a crash leaves it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kwire.clock import ManualClock
from kwire.codec.records.batch import each_batch, parse_header
from kwire.codec.records.builder import build_batch
from kwire.codec.records.control import marker_key, marker_value
from kwire.codec.records.record import Record, each_record
from kwire.config.topic import TopicConfig
from kwire.log.partition_log import Appended, PartitionLog
from kwire.log.store import LogStore
from kwire.tests.builders import A_TIMESTAMP, a_batch

T = TypeVar("T")

TOPIC_ID = bytes(range(16))
KIB = 1024


class Directory:
    """One log directory with the partition `t-0` in it."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.path = path
        self.clock = ManualClock(A_TIMESTAMP)
        self.config = TopicConfig(**settings)
        self.store = LogStore(path, self.clock)
        self.log = self._open()

    def stop(self) -> None:
        self.store.close()

    def crash(self) -> None:
        """What kill -9 leaves: every batch, and no index that was in memory."""
        self.store.let_go()

    def start(self) -> PartitionLog:
        self.store = LogStore(self.path, self.clock)
        self.log = self._open()
        return self.log

    def restart(self, *, clean: bool = True) -> PartitionLog:
        if clean:
            self.stop()
        else:
            self.crash()
        return self.start()

    def file(self, name: str) -> Path:
        return self.path / "t-0" / name

    def names(self) -> set[str]:
        return set(os.listdir(self.path / "t-0"))

    def _open(self) -> PartitionLog:
        try:
            return self.store.open_or_create("t", 0, TOPIC_ID, self.config)
        except BaseException:
            self.store.let_go()
            raise


class Pool:
    """A scheduler that does everything when it is told to, in order."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.later: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> "Pool":
        self.later.append((delay_s, callback))
        return self

    def cancel(self) -> None:
        self.later.clear()

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def in_pool(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        def run() -> None:
            try:
                outcome: T | Exception = work()
            except Exception as error:
                outcome = error
            done(outcome)

        self.soon.append(run)

    def run(self) -> None:
        while self.soon:
            self.soon.pop(0)()

    def run_later(self) -> None:
        while self.later:
            self.later.pop(0)[1]()
        self.run()


def append(
    log: PartitionLog, records: int | list[Record] = 1, *, epoch: int = 0, **options: Any
) -> Appended:
    batch = a_batch(records, **options)
    return log.append(batch, parse_header(batch), leader_epoch=epoch)


def append_marker(
    log: PartitionLog, producer_id: int, *, is_abort: bool, timestamp: int = A_TIMESTAMP
) -> Appended:
    key, value = marker_key(is_abort=is_abort), marker_value(coordinator_epoch=3)
    batch = build_batch(
        [Record(0, timestamp, key, value)],
        producer_id=producer_id,
        producer_epoch=0,
        transactional=True,
        control=True,
    )
    return log.append(batch, parse_header(batch), leader_epoch=0)


def read_bytes(log: PartitionLog, start: int | None = None) -> bytes:
    """Every batch of the log, read in pieces as a client would."""
    offset = log.log_start_offset if start is None else start
    whole = b""
    while (piece := log.read(offset, 4 * KIB, end_offset=log.next_offset)) is not None:
        data = bytes(piece)
        for position, header in each_batch(data):
            whole += data[position : position + header.size_bytes]
            offset = header.next_offset
    return whole


def read_records(log: PartitionLog, start: int | None = None) -> list[Record]:
    data = read_bytes(log, start)
    return [
        record
        for position, header in each_batch(data)
        if not header.is_control
        for record in each_record(data[position:], header)
    ]


def offsets(log: PartitionLog) -> list[int]:
    return [record.offset for record in read_records(log)]
