"""What compaction leaves of a batch.

A record survives if it is the last one of its key. A tombstone survives for delete.retention.ms
after the round that first kept it: that round writes the moment it may go into the batch, as its
delete horizon (KIP-534). Markers of transactions go the same way, once nothing of their transaction
is left; records of aborted transactions go at once. The last batch of each live producer stays, if
need be as a header without records, since it carries the producer's sequence and epoch.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop
from typing import NamedTuple

from kwire.codec.records.batch import CODEC_MASK, DELETE_HORIZON, BatchHeader, crc_holds
from kwire.codec.records.builder import TimestampType, build_batch, join_batch
from kwire.codec.records.control import read_marker
from kwire.codec.records.crc import Buffer
from kwire.codec.records.record import Record, each_record
from kwire.errors import CorruptMessage, InvalidRecord
from kwire.log.key_map import KeyMap
from kwire.log.transaction_index import AbortedTxn


class LastOfProducer(NamedTuple):
    """Where a producer's state is kept in the log: in its last data batch, or in a marker."""

    epoch: int
    last_data_offset: int
    """-1 if all that is left of the producer is a marker."""


class TransactionTrail:
    """Which transactions are open at the point a reader of the log has come to."""

    def __init__(self, aborted: Sequence[AbortedTxn]) -> None:
        self._coming = [(entry.first_offset, entry) for entry in aborted]
        heapify(self._coming)
        self._aborted: dict[int, AbortedTxn] = {}
        self._aborted_with_data: set[int] = set()
        self._committed_with_data: set[int] = set()
        self.still_aborted: list[AbortedTxn] = []
        """Aborted transactions that have batches left, for the index of what is written."""

    def is_aborted(self, header: BatchHeader) -> bool:
        """Whether a data batch belongs to a transaction that was aborted."""
        self._advance(header.last_offset)
        if not header.is_transactional:
            return False
        aborted = self._aborted.get(header.producer_id)
        if aborted is not None and header.base_offset < aborted.last_offset:
            self._aborted_with_data.add(header.producer_id)
            return True
        self._committed_with_data.add(header.producer_id)
        return False

    def is_marker_spent(self, header: BatchHeader, batch: Buffer) -> bool:
        """Whether a marker stands for a transaction of which nothing was seen."""
        self._advance(header.last_offset)
        if header.records_count == 0:
            return True
        producer_id = header.producer_id
        try:
            is_abort = read_marker(batch, header).is_abort
        except InvalidRecord:
            return False
        if not is_abort:
            spent = producer_id not in self._committed_with_data
            self._committed_with_data.discard(producer_id)
            return spent
        aborted = self._aborted.pop(producer_id, None)
        if aborted is None or producer_id not in self._aborted_with_data:
            return True
        self._aborted_with_data.discard(producer_id)
        self.still_aborted.append(aborted)
        return False

    def _advance(self, offset: int) -> None:
        while self._coming and self._coming[0][0] <= offset:
            entry = heappop(self._coming)[1]
            before = self._aborted.get(entry.producer_id)
            if before is None or before.last_offset < entry.first_offset:
                self._aborted[entry.producer_id] = entry
                self._aborted_with_data.discard(entry.producer_id)


class BatchFilter:
    """Decides about one batch after the other, in the order of the log."""

    def __init__(
        self,
        keys: KeyMap,
        trail: TransactionTrail,
        producers: Mapping[int, LastOfProducer],
        *,
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self._keys = keys
        self._trail = trail
        self._producers = producers
        self._now_ms = now_ms
        self._delete_retention_ms = delete_retention_ms

    def survivor(self, batch: Buffer, header: BatchHeader, *, is_last: bool) -> Buffer | None:
        """The batch as it goes on: the very same bytes, a smaller batch, or nothing.

        `is_last` keeps at least the header, because it alone tells how far the segment reaches.
        """
        if not crc_holds(batch, header):
            raise CorruptMessage(f"the batch at offset {header.base_offset} is damaged")
        marker_spent = header.is_control and self._trail.is_marker_spent(header, batch)
        if header.is_control:
            horizon = header.delete_horizon_ms
            dropped = marker_spent and horizon is not None and horizon <= self._now_ms
        else:
            dropped = self._trail.is_aborted(header)
        if not dropped:
            try:
                return self._thinned(batch, header, marker_spent=marker_spent, is_last=is_last)
            except InvalidRecord:
                # Its checksum is true, so this is what was written; it is not ours to remove.
                return batch
        return self._bare(header, is_last=is_last)

    def _thinned(
        self, batch: Buffer, header: BatchHeader, *, marker_spent: bool, is_last: bool
    ) -> Buffer | None:
        records = list(each_record(batch, header))
        kept = records if header.is_control else [r for r in records if self._stays(r, header)]
        if not kept:
            return self._bare(header, is_last=is_last)
        needs_horizon = not header.has_delete_horizon and (
            marker_spent or (not header.is_control and any(r.value is None for r in kept))
        )
        if len(kept) == len(records) and not needs_horizon:
            return batch
        horizon = header.delete_horizon_ms
        if needs_horizon:
            horizon = self._now_ms + self._delete_retention_ms
        return _rebuilt(header, kept, horizon)

    def _stays(self, record: Record, header: BatchHeader) -> bool:
        if record.offset > self._keys.latest_offset:
            return True
        if record.key is None or record.offset < self._keys.last_offset_of(record.key):
            return False
        horizon = header.delete_horizon_ms
        return record.value is not None or horizon is None or self._now_ms < horizon

    def _bare(self, header: BatchHeader, *, is_last: bool) -> bytearray | None:
        """Only the header, if somebody needs it."""
        if not is_last and not self._is_last_of_producer(header):
            return None
        bare = header._replace(
            attributes=header.attributes & ~(CODEC_MASK | DELETE_HORIZON),
            base_timestamp=header.max_timestamp,
            records_count=0,
        )
        return join_batch(bare, b"")

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last = self._producers.get(header.producer_id)
        if last is None or not header.has_producer:
            return False
        if last.last_data_offset >= 0:
            return header.last_offset == last.last_data_offset
        return header.is_control and header.producer_epoch == last.epoch


def _rebuilt(header: BatchHeader, kept: Sequence[Record], horizon: int | None) -> bytearray:
    kind = TimestampType.LOG_APPEND_TIME if header.is_log_append_time else TimestampType.CREATE_TIME
    return build_batch(
        kept,
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        codec=header.codec,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        control=header.is_control,
        timestamp_type=kind,
        leader_epoch=header.partition_leader_epoch,
        delete_horizon_ms=horizon,
    )
