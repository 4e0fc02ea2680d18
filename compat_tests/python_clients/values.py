"""What the three Python clients have in common, in one vocabulary.

Each client's adapter turns its own records, positions and exceptions into these, so that one test
serves them all and compares values, not classes.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Acks = Literal[0, 1, "all"]
Headers = tuple[tuple[str, bytes | None], ...]
A_TIMESTAMP = time.time_ns() // 1_000_000 - 3_600_000
"""An hour ago: older records would fall to retention while a test reads them."""
BEGINNING = -2
END = -1


class Sent(NamedTuple):
    """A record as a producer hands it over."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int = 0


class Seen(NamedTuple):
    """A record as a consumer gets it; the timestamp's type is 0 for CreateTime, 1 for append."""

    offset: int
    value: bytes | None
    key: bytes | None
    headers: Headers
    timestamp: int
    timestamp_type: int


class Cluster(NamedTuple):
    """Who is there: the id of the cluster, of its controller, and where its brokers listen."""

    id: str
    controller: int
    brokers: dict[int, str]


class Refused(Exception):
    """The broker said no; `code` is the number it said it with."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(f"{code} {message}")
        self.code = code


class Client(Protocol):
    """One client library, bound to one broker. Every call opens and closes its own connections."""

    def write(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
    ) -> list[int]:
        """Produce in order and return the offsets, which mean nothing with acks=0."""

    def read(self, topic: str, count: int, *, start: int = BEGINNING) -> list[Seen]:
        """Consume `count` records of partition 0 from an offset, the beginning or the end on."""

    def read_from_time(self, topic: str, count: int, timestamp: int) -> list[Seen]:
        """Consume `count` records of partition 0 from the first one of that time on."""

    def first_and_end(self, topic: str) -> tuple[int, int]:
        """Where partition 0 begins, and where its next record will be."""

    def offset_for_time(self, topic: str, timestamp: int) -> int | None:
        """The first offset at or after a time, or None if there is none."""

    def create(self, topic: str, partitions: int = 1, configs: Mapping[str, str] = {}) -> None: ...

    def delete(self, topic: str) -> None: ...

    def topics(self) -> set[str]: ...

    def partitions(self, topic: str) -> list[int]: ...

    def add_partitions(self, topic: str, total: int) -> None: ...

    def configs(self, topic: str) -> dict[str, str | None]: ...

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        """AlterConfigs: what is not named goes back to its default."""

    def delete_records(self, topic: str, before: int) -> int:
        """Delete partition 0 up to an offset and return where it begins now."""

    def cluster(self) -> Cluster: ...
