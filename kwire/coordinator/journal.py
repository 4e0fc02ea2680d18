"""The log of an internal partition, as its coordinator writes it."""

from collections.abc import Iterator, Sequence

from kwire.codec.records.builder import build_batch, number
from kwire.coordinator.decision import NO_PRODUCER, StoredRecord
from kwire.errors import KwireError
from kwire.log.flush import GroupCommit, needs_flush
from kwire.replication.partition import Partition
from kwire.tasks import Later, now

NO_COMPRESSION = 0
RECORD_OVERHEAD_BYTES = 32
"""More than a record's own lengths and deltas ever take."""


class PartitionJournal:
    def __init__(self, partition: Partition, group_commit: GroupCommit, codec: int) -> None:
        self._partition = partition
        self._group_commit = group_commit
        self._codec = codec

    def append(self, records: Sequence[StoredRecord], now_ms: int) -> Later[int | KwireError]:
        """Write records, in one batch if they fit; the first one's offset comes when they count.

        They count when every in-sync replica has them, which on one node is at once, and when they
        are on disk if the topic's flush.messages asks for that.
        """
        partition = self._partition
        base_offset = partition.log.next_offset
        try:
            for some in _in_batches(records, partition.log.config.max_message_bytes // 2):
                partition.append_own(self._batch(some, now_ms))
        except KwireError as error:
            return now(error)
        if not needs_flush(partition.log):
            return now(base_offset)
        later: Later[int | KwireError] = Later()
        self._group_commit.after_flush(
            partition.log, lambda error: later.complete(base_offset if error is None else error)
        )
        return later

    def _batch(self, records: Sequence[StoredRecord], now_ms: int) -> bytearray:
        """One batch; all of it belongs to the transaction that its first record belongs to."""
        producer_id, first = records[0].producer_id, records[0]
        return build_batch(
            number([(record.key, record.value) for record in records], now_ms),
            codec=NO_COMPRESSION if first.is_marker else self._codec,
            producer_id=producer_id,
            producer_epoch=first.producer_epoch,
            transactional=producer_id != NO_PRODUCER,
            control=first.is_marker,
        )


def _in_batches(
    records: Sequence[StoredRecord], size_bytes: int
) -> Iterator[Sequence[StoredRecord]]:
    """Cut what would become too large a batch. A single record is as large as it is."""
    start = taken_bytes = 0
    for index, record in enumerate(records):
        record_bytes = len(record.key) + len(record.value or b"") + RECORD_OVERHEAD_BYTES
        if index > start and taken_bytes + record_bytes > size_bytes:
            yield records[start:index]
            start, taken_bytes = index, 0
        taken_bytes += record_bytes
    yield records[start:]
