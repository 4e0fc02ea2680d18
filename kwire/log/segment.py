"""One segment of a log: a file of batches and its three indexes, all named by the first offset.

Appending is one `write` to the end of the file. Everything else about a segment can be found again
by reading its batches; `recovery.py` does so after a crash.
"""

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from kwire.codec.records.batch import HEADER_BYTES, MAGIC, BatchHeader, parse_header
from kwire.errors import KafkaStorageError
from kwire.log.files import LogFile, OpenFiles, read_fully
from kwire.log.offset_index import OffsetIndex
from kwire.log.time_index import TimeIndex
from kwire.log.transaction_index import TransactionIndex

SUFFIXES = (".log", ".index", ".timeindex", ".txnindex")
REMEMBERED_BATCHES = 32
LOOK_BYTES = 8 * 1024
"""How much is read at a time when only headers are wanted; two index intervals."""


class Located(NamedTuple):
    """A batch in the file."""

    position: int
    header: BatchHeader


class Segment:
    __slots__ = (
        "_bytes_since_entry",
        "_recent",
        "_saved_bytes",
        "base_offset",
        "created_ms",
        "entries",
        "file",
        "first_timestamp",
        "max_timestamp",
        "max_timestamp_offset",
        "next_offset",
        "offset_index",
        "size_bytes",
        "time_index",
        "transaction_index",
    )

    def __init__(
        self, directory: str, base_offset: int, files: OpenFiles, now_ms: int, suffix: str = ""
    ) -> None:
        stem = f"{directory}/{segment_stem(base_offset)}"
        cache = files.index_cache
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.created_ms = now_ms
        self.file = LogFile(f"{stem}.log{suffix}", files)
        self.offset_index = OffsetIndex(f"{stem}.index{suffix}", base_offset, cache)
        self.time_index = TimeIndex(f"{stem}.timeindex{suffix}", base_offset, cache)
        self.transaction_index = TransactionIndex(f"{stem}.txnindex{suffix}")
        self.size_bytes = 0
        self.entries = 0
        """How many entries the offset index has."""
        self.first_timestamp: int | None = None
        """The newest time in the first batch: segment.ms counts from here."""
        self.max_timestamp = -1
        self.max_timestamp_offset = base_offset
        self._bytes_since_entry = 0
        # How much of the file the saved indexes account for.
        self._saved_bytes = 0
        # The newest batches as (base offset, position), without gaps: most readers want these.
        self._recent: list[tuple[int, int]] = []

    def create(self) -> None:
        """Make the file of a new segment."""
        self.file.create()
        self.offset_index.start_empty(is_new=True)
        self.time_index.start_empty(is_new=True)
        self.transaction_index.start_empty(is_new=True)

    def forget(self) -> None:
        """Begin again with nothing known, as before the first batch was read; the file stays."""
        self.offset_index.start_empty()
        self.time_index.start_empty()
        self.transaction_index.start_empty()
        self.size_bytes = self.entries = self._bytes_since_entry = 0
        self._saved_bytes = -1
        self.next_offset = self.max_timestamp_offset = self.base_offset
        self.max_timestamp, self.first_timestamp = -1, None
        self._recent.clear()

    def append(
        self,
        batch: bytes | bytearray | memoryview,
        header: BatchHeader,
        base_offset: int,
        interval_bytes: int,
    ) -> None:
        """Write one batch that carries its final offset; on a failure nothing of it stays."""
        position = self.size_bytes
        try:
            written = os.write(self.file.fd(), batch)
        except OSError as error:
            self._undo_write(position, error)
        if written != header.batch_length + 12:
            self._undo_write(position, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        self.note(header, base_offset, position, interval_bytes)
        recent = self._recent
        recent.append((base_offset, position))
        if len(recent) > 2 * REMEMBERED_BATCHES:
            del recent[:REMEMBERED_BATCHES]

    def note(
        self, header: BatchHeader, base_offset: int, position: int, interval_bytes: int
    ) -> None:
        """Account for a batch that is in the file at `position`: sizes, timestamps, indexes."""
        size = header.batch_length + 12
        last_offset = base_offset + header.last_offset_delta
        max_timestamp = header.max_timestamp
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self._bytes_since_entry > interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(self.max_timestamp, self.max_timestamp_offset)
            self.entries += 1
            self._bytes_since_entry = 0
        self._bytes_since_entry += size
        if self.first_timestamp is None:
            self.first_timestamp = max_timestamp
        self.size_bytes = position + size
        self.next_offset = last_offset + 1

    def position_of(self, offset: int) -> int:
        """Where the first batch starts whose last offset is at or after `offset`."""
        if offset >= self.next_offset:
            return self.size_bytes
        for base_offset, position in reversed(self._recent):
            if base_offset <= offset:
                return position
        entry = self.offset_index.lookup(offset)
        if entry is not None:
            found = self._seek(offset, *entry)
            if found is not None:
                return found
            self.offset_index.distrust()
        return self._seek(offset, -1, 0) or 0

    def _seek(self, offset: int, last_offset: int, start: int) -> int | None:
        """Look from `start` on, where a batch with that last offset (-1: any) should be."""
        for position, header in self.walk(start):
            last = header.base_offset + header.last_offset_delta
            if position == start and last_offset not in (-1, last):
                return None
            if last >= offset:
                return position
        return self.size_bytes

    def size_of_batch_at(self, position: int) -> int:
        head = self.read(position, 12)
        return int.from_bytes(head[8:12], "big") + 12

    def walk(self, position: int = 0) -> Iterator[Located]:
        """Every batch header from `position` on, up to the first bytes that are none."""
        end = self.size_bytes
        chunk, start = b"", position
        while position + HEADER_BYTES <= end:
            at = position - start
            if at + HEADER_BYTES > len(chunk):
                start, at = position, 0
                chunk = os.pread(self.file.fd(), LOOK_BYTES, position)
                if len(chunk) < HEADER_BYTES:
                    return
            header = parse_header(chunk, at)
            size = header.batch_length + 12
            if header.magic != MAGIC or size < HEADER_BYTES or position + size > end:
                return
            yield Located(position, header)
            position += size

    def read(self, position: int, size: int) -> bytes:
        """Bytes of the file; blocking."""
        try:
            return read_fully(self.file.fd(), size, position)
        except EOFError as error:
            raise KafkaStorageError(f"cannot read {self.file.name}: {error}") from error
        except OSError as error:
            raise self.file.files.refusal(f"read {self.file.name}", error) from error

    def find_end(self) -> int:
        """Learn from the indexes and the batches after their last entries what is in the file.

        Returns where the last whole batch ends, which is the size of the file unless it is damaged.
        """
        entry = self.offset_index.last()
        newest = self.time_index.last()
        return self.measure(entry[1] if entry else 0, len(self.offset_index), newest)

    def measure(self, position: int, entries: int, newest: tuple[int, int] | None) -> int:
        """`find_end` for one who knows the last entries already."""
        self.entries = entries
        self.max_timestamp, self.max_timestamp_offset = newest or (-1, self.base_offset)
        self.next_offset = self.base_offset
        self._recent.clear()
        end = start = position
        for at, header in self.walk(position):
            if header.max_timestamp > self.max_timestamp and header.records_count:
                self.max_timestamp = header.max_timestamp
                self.max_timestamp_offset = header.last_offset
            self.next_offset = header.last_offset + 1
            end = at + header.size_bytes
        self._bytes_since_entry = end - start
        self._saved_bytes = end
        self.first_timestamp = None
        for _, header in self.walk():
            self.first_timestamp = header.max_timestamp
            break
        return end

    def truncate_to(self, offset: int) -> None:
        """Forget everything at and above `offset`, which need not be where a batch starts."""
        position = self.position_of(offset) if offset > self.base_offset else 0
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.transaction_index.truncate_to(offset)
        self.cut(position)
        self.find_end()
        self._saved_bytes = -1
        self.next_offset = offset

    def cut(self, size_bytes: int) -> None:
        os.ftruncate(self.file.fd(), size_bytes)
        self.size_bytes = size_bytes

    def close_for_writing(self) -> None:
        """The segment is full: its last timestamp is indexed, its indexes leave the memory."""
        self._recent.clear()
        if self._saved_bytes == self.size_bytes:
            return
        self.time_index.maybe_append(self.max_timestamp, self.max_timestamp_offset)
        self.offset_index.freeze()
        self.time_index.freeze()
        self.transaction_index.save()
        self._saved_bytes = self.size_bytes

    def drop(self) -> None:
        """Let go of the descriptor and of what is kept in memory; the segment is not used again."""
        self.file.close()
        self.offset_index.unload()
        self.time_index.unload()

    def paths(self) -> list[str]:
        """The files of this segment that exist, the log first."""
        parts = (self.file, self.offset_index, self.time_index, self.transaction_index)
        return [part.path for part in parts if os.path.exists(part.path)]

    def rename(self, suffix: str) -> list[str]:
        """Give all files of the segment a further suffix; returns their new paths."""
        self.drop()
        renamed = []
        for path in self.paths():
            os.rename(path, path + suffix)
            renamed.append(path + suffix)
        self.file.path += suffix
        return renamed

    def move_to(self, files: OpenFiles) -> None:
        """Share descriptors and memory with the segments of `files` from now on."""
        self.drop()
        self.file = LogFile(self.file.path, files)
        self.offset_index.move_to(files.index_cache)
        self.time_index.move_to(files.index_cache)

    def _undo_write(self, size_bytes: int, error: OSError) -> NoReturn:
        """Cut off what a failed write left behind."""
        files = self.file.files
        refusal = files.refusal(f"append to {self.file.name}", error)
        try:
            os.truncate(self.file.path, size_bytes)
        except OSError as second:
            refusal = files.give_up(f"cut {self.file.name} back to {size_bytes} bytes", second)
        raise refusal from error


def segment_stem(base_offset: int) -> str:
    return f"{base_offset:020d}"
