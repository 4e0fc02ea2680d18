"""From a directory to a log: what a start finds, checks and, after a crash, repairs.

After a clean stop everything on disk is trusted, save for indexes that cannot be right. Without the
clean-stop marker, segments that reach beyond the recovery point are read batch by batch: the last
one is cut after its last good batch, and its indexes are built anew. Damage anywhere else is not
ours to repair by forgetting: the partition stays offline and says which file is broken.
"""

import logging
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kwire.clock import Clock
from kwire.codec.records.batch import HEADER_BYTES, MAGIC, BatchHeader, crc_holds, parse_header
from kwire.codec.records.control import read_marker
from kwire.errors import KafkaStorageError
from kwire.log.files import OpenFiles
from kwire.log.partition_log import PartitionLog
from kwire.log.segment import Segment

READ_BYTES = 4 * 1024 * 1024
LEFTOVERS = (".deleted", ".cleaned", ".tmp")

_log = logging.getLogger(__name__)


def load(log: PartitionLog, *, log_start_offset: int, recovery_point: int, is_clean: bool) -> None:
    """Fill `log` from its directory; raises KafkaStorageError if that would lose data."""
    _finish_interrupted(log.directory)
    segments = _find_segments(log.directory, log.files, log.clock)
    if not segments:
        log.create()
        return
    for segment, following in pairwise(segments):
        is_doubtful = not is_clean and following.base_offset > recovery_point
        _load_closed(segment, following.base_offset, log, is_doubtful)
    last = segments[-1]
    if is_clean and _load_tail(last):
        log.recovery_point = last.next_offset
    else:
        _recover_last(last, log, recovery_point)
        log.recovery_point = min(recovery_point, last.next_offset)
    log.leader_epochs.load()
    log.leader_epochs.truncate_to(last.next_offset)
    log.adopt(segments, log_start_offset, last.next_offset)
    _load_producers(log)


def _finish_interrupted(directory: Path) -> None:
    """Remove what was half made, and finish the swap of a compaction that had got that far."""
    names = sorted(os.listdir(directory))
    for name in names:
        if name.endswith(LEFTOVERS):
            (directory / name).unlink()
    swaps = [directory / name for name in names if name.endswith(".log.swap")]
    for swap in swaps:
        _drop_replaced(directory, swap)
    for name in names:
        if name.endswith(".swap"):
            os.rename(directory / name, directory / name.removesuffix(".swap"))


def _drop_replaced(directory: Path, swap: Path) -> None:
    """The swapped-in segment stands for every segment that began within its offsets."""
    first = int(swap.name.split(".")[0])
    last = first
    with swap.open("rb") as file:
        for _, header in _good_batches(file.fileno(), swap.stat().st_size):
            last = header.last_offset
    for path in directory.glob("*.log"):
        if first <= int(path.stem) <= last:
            for sibling in directory.glob(f"{path.stem}.*"):
                if not sibling.name.endswith((".swap", ".snapshot")):
                    sibling.unlink()


def _find_segments(directory: Path, files: OpenFiles, clock: Clock) -> list[Segment]:
    bases = sorted(int(name[:-4]) for name in os.listdir(directory) if name.endswith(".log"))
    segments = []
    for base in bases:
        segment = Segment(directory, base, files, clock.now_ms())
        segment.size_bytes = segment.file.path.stat().st_size
        segments.append(segment)
    return segments


def _load_closed(segment: Segment, next_base: int, log: PartitionLog, is_doubtful: bool) -> None:
    if is_doubtful or not (
        segment.offset_index.is_sane(segment.size_bytes) and segment.time_index.is_sane()
    ):
        end = _rebuild(segment, log)
        if end != segment.file.path.stat().st_size:
            raise KafkaStorageError(
                f"{segment.file.path} is damaged at byte {end}, and it is not the last segment:"
                " nothing was cut off; restore the file, or move it away to give its records up"
            )
        segment.close_for_writing()
    newest = segment.time_index.last()
    if newest is not None:
        segment.max_timestamp, segment.max_timestamp_offset = newest
    segment.next_offset = next_base
    _note_first(segment)


def _load_tail(segment: Segment) -> bool:
    """Find the end of the last segment from its indexes; false when they cannot be trusted."""
    if not segment.offset_index.is_sane(segment.size_bytes) or not segment.time_index.is_sane():
        return False
    newest = segment.time_index.last()
    if newest is not None:
        segment.max_timestamp, segment.max_timestamp_offset = newest
    entry = segment.offset_index.last()
    position = entry[1] if entry is not None else 0
    for start, header in segment.walk(position):
        segment.next_offset = header.last_offset + 1
        position = start + header.size_bytes
        if header.max_timestamp > segment.max_timestamp:
            segment.max_timestamp = header.max_timestamp
            segment.max_timestamp_offset = header.last_offset
    _note_first(segment)
    return position == segment.size_bytes


def _note_first(segment: Segment) -> None:
    for _, header in segment.walk():
        segment.first_timestamp = header.max_timestamp
        return


def _recover_last(segment: Segment, log: PartitionLog, recovery_point: int) -> None:
    size = segment.size_bytes
    end = _rebuild(segment, log)
    if end == size:
        return
    if segment.next_offset < recovery_point:
        raise KafkaStorageError(
            f"{segment.file.path} is damaged at byte {end}, below the recovery point"
            f" {recovery_point}: nothing was cut off; restore the file from a copy"
        )
    _log.warning(
        "torn tail cut topic_partition=%s segment=%s bytes=%d next_offset=%d",
        log.topic_partition,
        segment.file.path.name,
        size - end,
        segment.next_offset,
    )
    segment.truncate(end)


def _rebuild(segment: Segment, log: PartitionLog) -> int:
    """Read every batch, checking it, and build the indexes; returns where good data ends."""
    size, end = segment.size_bytes, 0
    segment.size_bytes = 0
    segment.next_offset = segment.base_offset
    segment.start_empty()
    for position, header in _good_batches(segment.file.fd(), size):
        if header.base_offset < segment.next_offset:
            break
        segment.note(header, header.base_offset, position, log.config.index_interval_bytes)
        end = position + header.size_bytes
    segment.size_bytes = end
    return end


def _good_batches(fd: int, size: int) -> Iterator[tuple[int, BatchHeader]]:
    """Batches with the right magic, length and checksum, up to the first that is not."""
    position, start, chunk = 0, 0, memoryview(b"")
    while position + HEADER_BYTES <= size:
        at = position - start
        if at + HEADER_BYTES > len(chunk):
            start, at = position, 0
            chunk = memoryview(os.pread(fd, READ_BYTES, position))
        header = parse_header(chunk, at)
        if header.magic != MAGIC or not HEADER_BYTES <= header.size_bytes <= size - position:
            return
        if at + header.size_bytes > len(chunk):
            start, at = position, 0
            chunk = memoryview(os.pread(fd, max(READ_BYTES, header.size_bytes), position))
        if not crc_holds(chunk, header, at):
            return
        yield position, header
        position += header.size_bytes


def _load_producers(log: PartitionLog) -> None:
    """Start from the newest usable snapshot and replay what came after it."""
    start = log.log_start_offset
    for path in sorted(log.directory.glob("*.snapshot"), reverse=True):
        offset = int(path.stem)
        if offset > log.next_offset:
            path.unlink()
        elif log.producers.load(path):
            start = offset
            break
        else:
            _log.warning("producer snapshot damaged path=%s", path.name)
            log.producers.clear()
            path.unlink()
    _replay(log, start)


def _replay(log: PartitionLog, start: int) -> None:
    for segment in log.segments:
        if segment.next_offset <= start and segment is not log.segments[-1]:
            continue
        begin = segment.position_of(start) if start > segment.base_offset else 0
        if begin == 0:
            segment.transaction_index.start_empty()
        for position, header in segment.walk(begin):
            if header.base_offset < start:
                continue
            log.leader_epochs.assign(header.partition_leader_epoch, header.base_offset)
            if not header.has_producer:
                continue
            if not header.is_control:
                log.producers.update(header, header.base_offset)
                continue
            if header.records_count == 0:
                # Compaction left only the header: nothing of that transaction is here any more.
                continue
            marker = read_marker(segment.read(position, header.size_bytes), header)
            aborted = log.producers.end_transaction(
                header,
                header.base_offset,
                coordinator_epoch=marker.coordinator_epoch,
                is_abort=marker.is_abort,
            )
            known = segment.transaction_index.entries()
            if aborted is not None and aborted not in known:
                segment.transaction_index.append(aborted)
