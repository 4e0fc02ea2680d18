"""One segment of a log: a file of batches and its three indexes, all named by the first offset.

Appending is one `write` to the end of the file. Everything else about a segment can be found again
by reading its batches; `recovery.py` does so after a crash.
"""

import errno
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from kwire.codec.records.batch import HEADER_BYTES, MAGIC, BatchHeader, parse_header
from kwire.errors import CorruptMessage, KafkaStorageError
from kwire.log.files import LogFile, OpenFiles
from kwire.log.offset_index import OffsetIndex
from kwire.log.time_index import TimeIndex
from kwire.log.transaction_index import TransactionIndex

WALK_BYTES = 64 * 1024
REMEMBERED_POSITIONS = 32
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex")


class Located(NamedTuple):
    """A batch in the file."""

    position: int
    header: BatchHeader


class Segment:
    __slots__ = (
        "_bytes_since_entry",
        "_directory",
        "_recent",
        "base_offset",
        "created_ms",
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

    def __init__(self, directory: Path, base_offset: int, files: OpenFiles, now_ms: int) -> None:
        stem = segment_stem(base_offset)
        self._directory = directory
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.created_ms = now_ms
        self.file = LogFile(directory / f"{stem}.log", files)
        self.offset_index = OffsetIndex(directory / f"{stem}.index", base_offset, files.index_cache)
        self.time_index = TimeIndex(directory / f"{stem}.timeindex", base_offset, files.index_cache)
        self.transaction_index = TransactionIndex(directory / f"{stem}.txnindex")
        self.size_bytes = 0
        self.first_timestamp: int | None = None
        self.max_timestamp = -1
        self.max_timestamp_offset = base_offset
        self._bytes_since_entry = 0
        self._recent: deque[tuple[int, int]] = deque(maxlen=REMEMBERED_POSITIONS)

    def start_empty(self) -> None:
        self.offset_index.start_empty()
        self.time_index.start_empty()

    def append(
        self,
        batch: bytes | bytearray | memoryview,
        header: BatchHeader,
        base_offset: int,
        interval_bytes: int,
    ) -> None:
        """Write one batch that carries its final offset; on a failure nothing of it stays."""
        position = self.size_bytes
        size = header.batch_length + 12
        try:
            written = os.write(self.file.fd(), batch)
        except OSError as error:
            self._undo_write(position, error)
        if written != size:
            self._undo_write(position, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        self.note(header, base_offset, position, interval_bytes)

    def note(
        self, header: BatchHeader, base_offset: int, position: int, interval_bytes: int
    ) -> None:
        """Account for a batch that is in the file at `position`: sizes, timestamps, indexes."""
        size = header.batch_length + 12
        last_offset = base_offset + header.last_offset_delta
        if self._bytes_since_entry > interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(self.max_timestamp, self.max_timestamp_offset)
            self._bytes_since_entry = 0
        self._bytes_since_entry += size
        if header.max_timestamp > self.max_timestamp:
            self.max_timestamp = header.max_timestamp
            self.max_timestamp_offset = last_offset
        if self.first_timestamp is None:
            self.first_timestamp = header.max_timestamp
        self._recent.append((base_offset, position))
        self.size_bytes = position + size
        self.next_offset = last_offset + 1

    def position_of(self, offset: int) -> int:
        """Where the first batch starts whose last offset is at or after `offset`."""
        if offset >= self.next_offset:
            return self.size_bytes
        start = -1
        for base_offset, position in reversed(self._recent):
            if base_offset <= offset:
                start = position
                break
        if start < 0:
            entry = self.offset_index.lookup(offset)
            start = entry[1] if entry is not None else 0
        for position, header in self.walk(start):
            if header.base_offset + header.last_offset_delta >= offset:
                return position
        return self.size_bytes

    def size_of_batch_at(self, position: int) -> int:
        head = os.pread(self.file.fd(), 12, position)
        return int.from_bytes(head[8:12], "big") + 12

    def walk(self, position: int = 0, end: int | None = None) -> Iterator[Located]:
        """Every batch header from `position` on, up to `end` or the first bytes that are none."""
        end = self.size_bytes if end is None else end
        chunk, start = b"", position
        while position + HEADER_BYTES <= end:
            at = position - start
            if at < 0 or at + HEADER_BYTES > len(chunk):
                start, at = position, 0
                chunk = os.pread(self.file.fd(), WALK_BYTES, position)
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
        data = os.pread(self.file.fd(), size, position)
        if len(data) != size:
            raise CorruptMessage(f"{self.file.path.name} ends before {position + size}")
        return data

    def touch(self) -> None:
        """Make the empty file, without keeping it open."""
        os.close(os.open(self.file.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))

    def truncate(self, size_bytes: int) -> None:
        os.ftruncate(self.file.fd(), size_bytes)

    def reset_to(self, size_bytes: int, next_offset: int) -> None:
        """Take the size and end that the file has after a cut; timestamps are found anew."""
        self.size_bytes = size_bytes
        self.next_offset = next_offset
        self._recent.clear()
        self.max_timestamp, self.max_timestamp_offset = -1, self.base_offset
        self.first_timestamp = None
        for _, header in self.walk():
            if self.first_timestamp is None:
                self.first_timestamp = header.max_timestamp
            if header.max_timestamp > self.max_timestamp:
                self.max_timestamp, self.max_timestamp_offset = (
                    header.max_timestamp,
                    header.last_offset,
                )

    def flush(self) -> None:
        self.file.sync()

    def close_for_writing(self) -> None:
        """The segment is full: its last timestamp is indexed, its indexes leave the memory."""
        self.time_index.maybe_append(self.max_timestamp, self.max_timestamp_offset)
        self.offset_index.freeze()
        self.time_index.freeze()
        self._recent.clear()

    def save_indexes(self) -> None:
        self.offset_index.save()
        self.time_index.save()

    def close(self) -> None:
        self.close_for_writing()
        self.file.close()

    def paths(self) -> list[Path]:
        """The files of this segment that exist."""
        known = (
            self.file.path,
            self.offset_index.path,
            self.time_index.path,
            self.transaction_index.path,
        )
        return [path for path in known if path.exists()]

    def rename(self, suffix: str) -> list[Path]:
        """Give all files of the segment a further suffix; returns their new paths."""
        self.file.close()
        renamed = []
        for path in self.paths():
            target = path.with_name(path.name + suffix)
            os.rename(path, target)
            renamed.append(target)
        self.file.path = self.file.path.with_name(self.file.path.name + suffix)
        return renamed

    def _undo_write(self, size_bytes: int, error: OSError) -> NoReturn:
        """Cut off what a failed write left behind. A full disk is no reason to stop for good."""
        try:
            os.ftruncate(self.file.fd(), size_bytes)
        except OSError as second:
            error = second
        raise KafkaStorageError(f"cannot append to {self.file.path.name}: {error}") from error


def segment_stem(base_offset: int) -> str:
    return f"{base_offset:020d}"
