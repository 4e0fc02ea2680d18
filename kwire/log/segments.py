"""The segments of one log by their offsets; the last one is active, the others are closed."""

import os
from bisect import bisect_right
from collections.abc import Sequence

from kwire.log.file_slice import FileSlice
from kwire.log.files import OpenFiles
from kwire.log.segment import Segment
from kwire.log.transaction_index import AbortedTxn


class Segments:
    __slots__ = ("_bases", "_directory", "_files", "active", "listed")

    active: Segment

    def __init__(self, directory: str, files: OpenFiles) -> None:
        self._directory = directory
        self._files = files
        self._bases: list[int] = []
        self.listed: list[Segment] = []

    def set(self, segments: list[Segment]) -> None:
        self.listed = segments
        self._bases = [segment.base_offset for segment in segments]
        if segments:
            self.active = segments[-1]

    def add(self, base_offset: int, now_ms: int) -> None:
        """Make a new segment, which is the active one from now on."""
        segment = Segment(self._directory, base_offset, self._files, now_ms)
        try:
            segment.create()
        except OSError as error:
            raise self._files.refusal(f"create {segment.file.name}", error) from error
        self.set([*self.listed, segment])

    def replace(self, gone: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Let new segments stand where others were; the files of those are the caller's."""
        dropped = set(map(id, gone))
        kept = [segment for segment in self.listed if id(segment) not in dropped]
        self.set(sorted([*kept, *new], key=lambda segment: segment.base_offset))

    def remove(self, gone: Sequence[Segment]) -> None:
        """Delete the newest segments with their files, the last one first.

        A crash in between then leaves a shorter log, but no gap.
        """
        for segment in reversed(gone):
            segment.drop()
            for path in segment.paths():
                os.unlink(path)
        self.set(self.listed[: len(self.listed) - len(gone)])

    def starting_at(self, offset: int) -> Sequence[Segment]:
        """The segment that `offset` belongs to, and all after it."""
        if offset >= self._bases[-1]:
            return (self.active,)
        return self.listed[max(0, bisect_right(self._bases, offset) - 1) :]

    def beyond(self, offset: int) -> list[Segment]:
        """The segments with batches at or above `offset`."""
        found: list[Segment] = []
        for segment in reversed(self.listed):
            if segment.next_offset <= offset:
                break
            found.append(segment)
        return found[::-1]

    def read(
        self, offset: int, max_bytes: int, end_offset: int, whole_first_batch: bool
    ) -> FileSlice | None:
        """Where the batches from `offset` on are; a slice never reaches into the next segment."""
        for segment in self.starting_at(offset):
            position = segment.position_of(offset)
            if position < segment.size_bytes:
                return _slice(segment, position, max_bytes, end_offset, whole_first_batch)
        return None

    def aborted(self, start_offset: int, end_offset: int) -> list[AbortedTxn]:
        """The aborted transactions with records in the range, by their first offsets."""
        found: list[AbortedTxn] = []
        for segment in self.starting_at(start_offset):
            entries = segment.transaction_index.entries()
            for entry in entries:
                if entry.last_offset >= start_offset and entry.first_offset < end_offset:
                    found.append(entry)
            if entries and entries[-1].last_stable_offset >= end_offset:
                # Whatever ends later began after the range.
                break
        return sorted(found, key=lambda entry: entry.first_offset)


def _slice(
    segment: Segment, position: int, max_bytes: int, end_offset: int, whole: bool
) -> FileSlice | None:
    end = segment.size_bytes
    if end_offset < segment.next_offset:
        end = segment.position_of(end_offset)
    size = end - position
    if size > max_bytes:
        size = max(max_bytes, segment.size_of_batch_at(position))
        if size > max_bytes and not whole:
            return None
    if size <= 0:
        return None
    return FileSlice(segment.file, position, size, min(end_offset, segment.next_offset))
