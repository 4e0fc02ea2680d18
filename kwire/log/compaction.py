"""Compaction, the blocking half: new segments made from old ones, in which each key is there once.

A round is planned in the loop, prepared in a thread and installed in the loop (`swap`). What is
prepared reads only closed segments, which nobody changes, through file handles of its own, and
writes `<base offset>.log.cleaned` and its indexes, brought to disk before it returns. Neighbours
that became small are joined into one segment, as long as they stay below segment.bytes.

Each new segment keeps the last batch of those it replaces, if only as a header: the file itself
tells how far it reaches, which an interrupted swap is finished by.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kwire.codec.records.batch import BatchHeader, crc_holds, each_batch, parse_header
from kwire.codec.records.record import each_record
from kwire.config.topic import TopicConfig
from kwire.errors import CorruptMessage, InvalidRecord
from kwire.log.batch_filter import BatchFilter, LastOfProducer, TransactionTrail
from kwire.log.files import OpenFiles, append_at, sync_path, unlink_if_there
from kwire.log.key_map import KeyMap
from kwire.log.segment import Segment
from kwire.log.transaction_index import AbortedTxn, TransactionIndex

CLEANED = ".cleaned"
READ_BYTES = 512 * 1024
MAX_RELATIVE_OFFSET = 2**31 - 1


class CompactionCancelled(Exception):
    """The log went away or changed while it was being compacted."""


@dataclass(slots=True)
class CompactionJob:
    """One round, as values: nothing here changes while a thread works on it but the flag."""

    directory: str
    sources: tuple[Segment, ...]
    first_dirty_offset: int
    transaction_indexes: tuple[TransactionIndex, ...]
    producers: Mapping[int, LastOfProducer]
    config: TopicConfig
    now_ms: int
    key_map_bytes: int
    pace: Callable[[int], None] = field(default=lambda size_bytes: None)
    """Told of every piece of work in bytes; may hold the thread up."""
    is_cancelled: bool = False


class Replacement(NamedTuple):
    """Old segments and the one that takes their place, still under its name as `.cleaned`."""

    old: tuple[Segment, ...]
    new: Segment


class Prepared(NamedTuple):
    job: CompactionJob
    replacements: list[Replacement]
    cleaned_to: int
    """The first offset that the next round will call dirty."""
    bytes_before: int
    bytes_after: int


def prepare(job: CompactionJob) -> Prepared:
    """Write the new segments. Blocking, for a thread; leaves nothing behind when it fails."""
    _remove_cleaned(job.directory)
    aborted = [entry for index in job.transaction_indexes for entry in index.entries()]
    keys = _map_keys(job, aborted)
    cleaned_to = keys.latest_offset + 1
    trail = TransactionTrail(aborted)
    filter_ = BatchFilter(
        keys,
        trail,
        job.producers,
        now_ms=job.now_ms,
        delete_retention_ms=job.config.delete_retention_ms,
    )
    sources = [source for source in job.sources if source.base_offset < cleaned_to]
    replacements: list[Replacement] = []
    try:
        for group in group_by_size(sources, job.config.segment_bytes):
            replacements.append(_clean(job, group, filter_, trail))
        sync_path(job.directory)
    except BaseException:
        _remove_cleaned(job.directory)
        raise
    before = sum(source.size_bytes for source in sources)
    after = sum(replacement.new.size_bytes for replacement in replacements)
    return Prepared(job, replacements, cleaned_to, before, after)


def _remove_cleaned(directory: str) -> None:
    for name in os.listdir(directory):
        if name.endswith(CLEANED):
            unlink_if_there(f"{directory}/{name}")


def group_by_size(segments: Sequence[Segment], limit_bytes: int) -> list[tuple[Segment, ...]]:
    """Neighbours that fit into one segment together, in bytes and in the span of their offsets."""
    groups: list[list[Segment]] = []
    size_bytes = 0
    for segment in segments:
        size_bytes += segment.size_bytes
        fits = (
            groups
            and size_bytes <= limit_bytes
            and segment.next_offset - 1 - groups[-1][0].base_offset <= MAX_RELATIVE_OFFSET
        )
        if fits:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            size_bytes = segment.size_bytes
    return [tuple(group) for group in groups]


def _map_keys(job: CompactionJob, aborted: Sequence[AbortedTxn]) -> KeyMap:
    """Take in keys from the first dirty offset on, until the end or until memory is used up."""
    keys = KeyMap(job.key_map_bytes)
    start = job.first_dirty_offset
    trail = TransactionTrail([entry for entry in aborted if entry.last_offset >= start])
    for source in job.sources:
        if source.next_offset <= start:
            continue
        for header, batch in _batches(job, source):
            if keys.is_full:
                return keys
            if header.last_offset >= start:
                _take_in(keys, trail, header, batch, start)
                keys.latest_offset = header.last_offset
        keys.latest_offset = source.next_offset - 1
    return keys


def _take_in(
    keys: KeyMap, trail: TransactionTrail, header: BatchHeader, batch: memoryview, start: int
) -> None:
    if not crc_holds(batch, header):
        raise CorruptMessage(f"the batch at offset {header.base_offset} is damaged")
    if header.is_control:
        trail.is_marker_spent(header, batch)
    elif not trail.is_aborted(header):
        try:
            for record in each_record(batch, header):
                if record.key is not None and record.offset >= start:
                    keys.put(record.key, record.offset)
        except InvalidRecord:
            # A batch that cannot be opened is kept as it is and has no say about others.
            return


def _clean(
    job: CompactionJob, group: tuple[Segment, ...], filter_: BatchFilter, trail: TransactionTrail
) -> Replacement:
    new = _new_segment(job, group[0].base_offset)
    trail.still_aborted.clear()
    end = group[-1].next_offset
    for source in group:
        for header, batch in _batches(job, source):
            kept = filter_.survivor(batch, header, is_last=header.next_offset == end)
            if kept is not None:
                written = parse_header(kept)
                # The time of a bare header is no record's time.
                told = written if written.records_count else written._replace(max_timestamp=-1)
                new.append(kept, told, header.base_offset, job.config.index_interval_bytes)
    for entry in trail.still_aborted:
        new.transaction_index.append(entry)
    # An older round may have left a later end than the batches that are still there.
    new.next_offset = end
    _bring_to_disk(new, group[-1].file.path)
    return Replacement(group, new)


def _new_segment(job: CompactionJob, base_offset: int) -> Segment:
    """An empty segment under names of its own, with a file handle that the loop knows nothing of.

    The index of aborted transactions is there even if it stays empty: it replaces an older one.
    """
    new = Segment(job.directory, base_offset, OpenFiles(limit=1), job.now_ms, CLEANED)
    new.create()
    append_at(new.transaction_index.path, b"", 0)
    return new


def _bring_to_disk(new: Segment, like: str) -> None:
    """Sync every file; the segment is as old as the last of those it replaces."""
    new.close_for_writing()
    new.drop()
    modified = os.stat(like).st_mtime_ns
    os.utime(new.file.path, ns=(modified, modified))
    for path in new.paths():
        sync_path(path)


def _batches(job: CompactionJob, source: Segment) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Every batch of a closed segment, read in pieces."""
    fd = os.open(source.file.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        position, wanted = 0, READ_BYTES
        while position < source.size_bytes:
            piece = memoryview(os.pread(fd, wanted, position))
            start = position
            for at, header in each_batch(piece):
                if job.is_cancelled:
                    raise CompactionCancelled
                yield header, piece[at : at + header.size_bytes]
                job.pace(header.size_bytes)
                position = start + at + header.size_bytes
            if position == start:
                wanted = _larger_piece(piece, source, position)
    finally:
        os.close(fd)


def _larger_piece(piece: memoryview, source: Segment, position: int) -> int:
    """The size of the batch at `position`, which did not fit into the piece that was read."""
    size_bytes = parse_header(piece).size_bytes
    if size_bytes <= len(piece) or position + size_bytes > source.size_bytes:
        raise CorruptMessage(f"{source.file.name} has no whole batch at {position}")
    return size_bytes
