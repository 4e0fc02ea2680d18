"""From a directory to a log: what a start finds, checks and, after a crash, repairs.

After a clean stop everything on disk is trusted, save for indexes that cannot be right. Without the
clean-stop marker, segments that reach beyond the recovery point are doubted and read batch by
batch: the last one is cut after its last good batch, and indexes, producers, aborted transactions
and leader epochs are made anew. Damage anywhere else, or below the recovery point, is not ours to
repair by forgetting: the partition stays offline and says which file is broken, and where.
"""

import logging
import os
from itertools import pairwise

from kwire.errors import KafkaStorageError
from kwire.log import replay
from kwire.log.leftovers import finish_interrupted
from kwire.log.partition_log import PartitionLog
from kwire.log.producers import Producers
from kwire.log.rolling import MAX_RELATIVE_OFFSET
from kwire.log.scan import BatchScan
from kwire.log.segment import Segment
from kwire.log.snapshots import SUFFIX

_log = logging.getLogger(__name__)


def load(log: PartitionLog, *, log_start_offset: int, recovery_point: int, is_clean: bool) -> None:
    """Fill `log` from its directory; raises KafkaStorageError if that would lose data."""
    directory = str(log.directory)
    names = finish_interrupted(directory)
    segments = _find_segments(log, names)
    if not segments:
        if recovery_point > log_start_offset:
            raise KafkaStorageError(
                f"{directory} has no segments, though offsets up to {recovery_point} were on disk:"
                " restore them from a copy, or remove the directory to give its records up"
            )
        log.create()
        if log_start_offset:
            log.start_over_at(log_start_offset)
        return
    log.snapshots.offsets = sorted(int(n[:20]) for n in names if n.endswith(SUFFIX))
    has_epochs = log.leader_epochs.load()
    known_epochs = log.leader_epochs.entries
    doubted = _load_trusted(log, segments, recovery_point, is_clean)
    if not has_epochs:
        _find_epochs(log, segments[: len(segments) - len(doubted)])
    start = doubted[0].base_offset if doubted else segments[-1].next_offset
    log.snapshots.drop_above(start)
    replay.restore(log.producers, log.snapshots, segments, start)
    for segment in doubted:
        _save_snapshot(log, segment.base_offset)
        _check(log, segment, segments, recovery_point)
    log.save_if_possible(lambda: log.leader_epochs.truncate_to(segments[-1].next_offset))
    if log.leader_epochs.entries != known_epochs:
        log.save_if_possible(log.leader_epochs.save)
    log.adopt(segments, log_start_offset)
    log.recovery_point = min(recovery_point, log.next_offset) if doubted else log.next_offset
    if log.next_offset < log_start_offset:
        # What was deleted on demand stays deleted, and its offsets are not given out again.
        log.start_over_at(log_start_offset)


def _save_snapshot(log: PartitionLog, offset: int) -> None:
    log.save_if_possible(lambda: log.snapshots.save(log.producers, offset))


def _find_segments(log: PartitionLog, names: set[str]) -> list[Segment]:
    bases = sorted(int(name[:20]) for name in names if name.endswith(".log"))
    now_ms, directory = log.clock.now_ms(), str(log.directory)
    segments = [Segment(directory, base, log.files, now_ms) for base in bases]
    for segment in segments:
        segment.size_bytes = os.stat(segment.file.path).st_size
        if f"{segment.base_offset:020d}.txnindex" not in names:
            segment.transaction_index.start_empty(is_new=True)
    return segments


def _load_trusted(
    log: PartitionLog, segments: list[Segment], recovery_point: int, is_clean: bool
) -> list[Segment]:
    """Load what needs no checking; returns the segments that do, always the newest ones."""
    for index, (segment, following) in enumerate(pairwise(segments)):
        if not is_clean and following.base_offset > recovery_point:
            return segments[index:]
        if not _load_closed(segment, following.base_offset):
            _rebuild_closed(log, segments, index)
    last = segments[-1]
    is_whole = is_clean and _load_last(last)
    if is_whole and last.next_offset >= recovery_point:
        return []
    return [last]


def _load_closed(segment: Segment, next_offset: int) -> bool:
    """Take the indexes' word; false when they cannot be right."""
    offsets = segment.offset_index.peek(segment.size_bytes)
    newest = segment.time_index.peek()
    if offsets is None or newest is None:
        return False
    segment.next_offset = next_offset
    segment.entries = offsets[0]
    segment.max_timestamp, segment.max_timestamp_offset = newest
    segment.first_timestamp = _first_timestamp(segment)
    if newest[0] < 0 and _has_times(segment):
        return False
    return segment.transaction_index.is_sane(segment.base_offset, next_offset)


def _has_times(segment: Segment) -> bool:
    """Whether a record has a time; what compaction left as a bare header tells of none."""
    for _, header in segment.walk():
        if header.records_count:
            return header.max_timestamp >= 0
    return False


def _first_timestamp(segment: Segment) -> int | None:
    for _, header in segment.walk():
        return header.max_timestamp
    return None


def _load_last(segment: Segment) -> bool:
    """Find the end of the last segment from its indexes; false when they cannot be right."""
    offsets = segment.offset_index.peek(segment.size_bytes)
    newest = segment.time_index.peek()
    if segment.size_bytes and (offsets is None or newest is None):
        return False
    count, _, position = offsets or (0, 0, 0)
    end = segment.measure(position, count, newest)
    is_sane = segment.transaction_index.is_sane(segment.base_offset, segment.next_offset)
    return end == segment.size_bytes and is_sane


def _rebuild_closed(log: PartitionLog, segments: list[Segment], index: int) -> None:
    """Make the indexes of a closed segment anew; what precedes it decides about transactions."""
    segment = segments[index]
    name = segment.file.name
    _log.warning("indexes rebuilt topic_partition=%s segment=%s", log.topic_partition, name)
    producers = Producers()
    replay.restore(producers, log.snapshots, segments[:index], segment.base_offset)
    size = segment.size_bytes
    scan = _read_again(log, segment, producers)
    following = segments[index + 1].base_offset
    if scan.end != size or segment.next_offset > following:
        raise _damage(segment, scan, "it is not the last segment")
    segment.next_offset = following
    log.save_if_possible(segment.close_for_writing)


def _check(
    log: PartitionLog, segment: Segment, segments: list[Segment], recovery_point: int
) -> None:
    """Read a doubted segment batch by batch, and cut it if it is the last one."""
    size = segment.size_bytes
    scan = _read_again(log, segment, log.producers)
    if segment is not segments[-1]:
        following = segments[segments.index(segment) + 1].base_offset
        if scan.end != size or segment.next_offset > following:
            raise _damage(segment, scan, "it is not the last segment")
        segment.next_offset = following
        log.save_if_possible(segment.close_for_writing)
        return
    if segment.next_offset < recovery_point:
        raise _damage(segment, scan, f"that is below the recovery point {recovery_point}")
    if scan.end != size:
        _log.warning(
            "torn tail cut topic_partition=%s segment=%s bytes=%d next_offset=%d reason=%r",
            log.topic_partition,
            segment.file.name,
            size - scan.end,
            segment.next_offset,
            scan.reason,
        )
        segment.cut(scan.end)


def _read_again(log: PartitionLog, segment: Segment, producers: Producers) -> BatchScan:
    """Check every batch up to the first bad one, and take down all that they say."""
    interval_bytes = log.config.index_interval_bytes
    scan = BatchScan(segment.file.path, segment.size_bytes)
    epochs = log.leader_epochs
    largest_offset = segment.base_offset + MAX_RELATIVE_OFFSET
    segment.forget()
    for position, header in scan:
        last_offset = header.base_offset + header.last_offset_delta
        if not segment.next_offset <= header.base_offset <= last_offset <= largest_offset:
            scan.stop(f"offset {header.base_offset} is out of order")
            break
        if header.partition_leader_epoch > epochs.latest:
            epochs.note(header.partition_leader_epoch, header.base_offset)
        told = header if header.records_count else header._replace(max_timestamp=-1)
        segment.note(told, header.base_offset, position, interval_bytes)
        aborted = replay.apply(producers, segment, position, header)
        if aborted is not None:
            segment.transaction_index.append(aborted)
    return scan


def _find_epochs(log: PartitionLog, segments: list[Segment]) -> None:
    """The checkpoint is lost: every batch tells in which epoch it was written."""
    log.leader_epochs.clear()
    for segment in segments:
        for _, header in segment.walk():
            log.leader_epochs.note(header.partition_leader_epoch, header.base_offset)


def _damage(segment: Segment, scan: BatchScan, why: str) -> KafkaStorageError:
    return KafkaStorageError(
        f"{segment.file.path} is damaged at byte {scan.end} ({scan.reason}), and {why}: nothing was"
        " cut off; restore the file from a copy, or move it away to give its records up"
    )
