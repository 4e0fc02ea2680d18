"""Records on their way to a topic: gathered by partition, and sent a batch at a time."""

from collections.abc import Sequence

from kwire.codec.records.record import Record
from kwire.peers.partitioner import partition_for
from kwire.peers.writer import Writer

BATCH_BYTES = 900_000
"""Somewhat below the largest batch that brokers take by default, 1 MiB."""

GATHERED_BYTES = 32 * 1024 * 1024
"""At most this much is held for all partitions together."""

# A record's numbers and lengths take at most this many bytes, a header's at most ten.
_RECORD_OVERHEAD = 32
_HEADER_OVERHEAD = 10

Headers = tuple[tuple[str, bytes | None], ...]


class Batches:
    """Gathers records for the partitions of one topic.

    A key decides its partition as in Kafka's own producer. Records without a key stay with one
    partition until its batch is sent, then go to the next: fewer, larger batches (KIP-480).
    """

    def __init__(self, writer: Writer, *, first_partition: int) -> None:
        self._writer = writer
        self._partitions = writer.partitions
        self._known = frozenset(self._partitions)
        self._turn = first_partition % len(self._partitions)
        self._gathered: dict[int, list[Record]] = {}
        self._sizes: dict[int, int] = {}
        self.counts: dict[int, int] = {}
        self.first_offsets: dict[int, int | None] = {}

    def add(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp: int,
        partition: int | None = None,
    ) -> None:
        """Take one record; raises ValueError if its partition does not exist."""
        if partition is None:
            partition = self._choose(key)
        elif partition not in self._known:
            count = len(self._partitions)
            raise ValueError(f"there is no partition {partition}; the topic has {count} of them")
        size = len(key or b"") + len(value or b"") + _RECORD_OVERHEAD
        for name, content in headers:
            size += len(name) * 4 + len(content or b"") + _HEADER_OVERHEAD
        gathered = self._gathered.get(partition)
        if gathered is None or self._sizes[partition] + size > BATCH_BYTES:
            self._make_room(partition)
            gathered = self._gathered[partition] = []
            self._sizes[partition] = 0
        gathered.append(Record(len(gathered), timestamp, key, value, headers))
        self._sizes[partition] += size

    def flush(self) -> None:
        """Send all that was gathered."""
        for partition in list(self._gathered):
            self._send(partition)

    def _choose(self, key: bytes | None) -> int:
        if key is None:
            return self._partitions[self._turn]
        return self._partitions[partition_for(key, len(self._partitions))]

    def _make_room(self, partition: int) -> None:
        if partition in self._gathered:
            self._send(partition)
        if sum(self._sizes.values()) > GATHERED_BYTES:
            self.flush()

    def _send(self, partition: int) -> None:
        records = self._gathered.pop(partition)
        del self._sizes[partition]
        if partition == self._partitions[self._turn]:
            self._turn = (self._turn + 1) % len(self._partitions)
        self._append(partition, records)

    def _append(self, partition: int, records: Sequence[Record]) -> None:
        offset = self._writer.append(partition, records)
        self.first_offsets.setdefault(partition, offset)
        self.counts[partition] = self.counts.get(partition, 0) + len(records)
