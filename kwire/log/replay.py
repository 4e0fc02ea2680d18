"""What batches say about producers and transactions, when they are appended and when read again.

The same functions run for a live append and over the batches that are found after a restart or left
after a truncation, so that both come to the same state.
"""

from collections.abc import Sequence

from kwire.codec.records.batch import BatchHeader
from kwire.codec.records.control import read_marker
from kwire.codec.records.crc import Buffer
from kwire.errors import InvalidRecord
from kwire.log.producers import Producers
from kwire.log.segment import Segment
from kwire.log.snapshots import Snapshots
from kwire.log.transaction_index import AbortedTxn


def end_transaction(
    producers: Producers, batch: Buffer, header: BatchHeader, base_offset: int
) -> AbortedTxn | None:
    """A control batch landed at `base_offset`; returns the transaction if this aborts one."""
    if header.records_count == 0:
        # Compaction left only the header: nothing of that transaction is here any more.
        return None
    marker = read_marker(batch, header)
    return producers.end_transaction(
        header,
        base_offset,
        coordinator_epoch=marker.coordinator_epoch,
        is_abort=marker.is_abort,
    )


def apply(
    producers: Producers, segment: Segment, position: int, header: BatchHeader
) -> AbortedTxn | None:
    """Take in a batch that is in the log already."""
    if not header.has_producer:
        return None
    if not header.is_control:
        producers.update(header, header.base_offset)
        return None
    batch = segment.read(position, header.size_bytes)
    try:
        return end_transaction(producers, batch, header, header.base_offset)
    except InvalidRecord:
        # Its checksum holds, so somebody meant it, but it ends no transaction that we know of.
        return None


def restore(
    producers: Producers, snapshots: Snapshots, segments: Sequence[Segment], end_offset: int
) -> None:
    """The state of the producers as of `end_offset`: the newest snapshot, and what came after."""
    producers.clear()
    start = snapshots.restore(producers, end_offset) or 0
    for segment in segments:
        if segment.next_offset <= start or segment.base_offset >= end_offset:
            continue
        begin = segment.position_of(start) if start > segment.base_offset else 0
        for position, header in segment.walk(begin):
            if start <= header.base_offset < end_offset:
                apply(producers, segment, position, header)
