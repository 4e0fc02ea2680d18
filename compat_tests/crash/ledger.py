"""What producers were told, and whether the log keeps it.

The log is read once, piece by piece, as it grows: each piece must follow the one before without a
gap, hold every acknowledged record at its offset, and hold no record of an idempotent producer
that was there before.
"""

from collections.abc import Iterable
from typing import NamedTuple

IDEMPOTENT = b"once"
PLAIN = b"plain"


class Acknowledged(NamedTuple):
    partition: int
    offset: int
    value: bytes


class Stored(NamedTuple):
    offset: int
    value: bytes


class Broken(AssertionError):
    """A promise was not kept."""


class Ledger:
    """`log` is what was read so far, the value of each offset of each partition."""

    def __init__(self, partitions: int) -> None:
        self.log: list[list[bytes]] = [[] for _ in range(partitions)]
        self.acknowledged = 0
        self._due: list[Acknowledged] = []
        self._seen: set[bytes] = set()

    def acknowledge(self, told: Iterable[Acknowledged]) -> None:
        """Promises to look for in what is read from now on, or was read already."""
        before = len(self._due)
        self._due.extend(told)
        self.acknowledged += len(self._due) - before

    def extend(self, partition: int, piece: list[Stored]) -> None:
        """Take in what a partition holds after what was read before."""
        log = self.log[partition]
        for record in piece:
            if record.offset != len(log):
                raise Broken(f"partition {partition}: {record} where {len(log)} should be")
            if record.value.startswith(IDEMPOTENT):
                if record.value in self._seen:
                    raise Broken(f"partition {partition}: {record} is there twice")
                self._seen.add(record.value)
            log.append(record.value)

    def check(self) -> None:
        """Every promise is kept by what was read."""
        for told in self._due:
            log = self.log[told.partition]
            if told.offset >= len(log):
                raise Broken(f"{told} is lost: the partition ends at {len(log)}")
            if log[told.offset] != told.value:
                raise Broken(f"{told}, but there is {log[told.offset]!r}")
        self._due.clear()

    def expect_all_of(self, values: Iterable[bytes]) -> None:
        """Every one of these records of an idempotent producer is in the log."""
        missing = [value for value in values if value not in self._seen]
        if missing:
            raise Broken(f"{len(missing)} records are missing, such as {missing[:3]}")
