"""The sparse index from offsets to positions in a segment.

File `<base offset>.index`: entries of 8 bytes, big-endian: relative offset i32, position i32. An
entry names the *last* offset of the batch that starts at the position, so that Kafka's dump tool
finds it in order. Entries of the active segment are kept in memory and saved when the segment is flushed,
closed or rolled; a closed segment is searched in its file and costs no memory.
"""

import os
import struct
from array import array
from bisect import bisect_right
from pathlib import Path

ENTRY_BYTES = 8

_ENTRY = struct.Struct(">ii")


class OffsetIndex:
    __slots__ = ("_base_offset", "_offsets", "_positions", "_saved", "path")

    def __init__(self, path: Path, base_offset: int) -> None:
        self.path = path
        self._base_offset = base_offset
        self._offsets: array[int] | None = None
        self._positions: array[int] = array("i")
        self._saved = 0

    def __len__(self) -> int:
        if self._offsets is not None:
            return len(self._offsets)
        return _file_size(self.path) // ENTRY_BYTES

    def start_empty(self) -> None:
        """Forget everything, on disk too at the next save: a new or a rebuilt segment."""
        self._offsets = array("i")
        self._positions = array("i")
        self._saved = 0
        self.path.unlink(missing_ok=True)

    def load(self) -> None:
        """Take the entries into memory, for the segment that will be appended to."""
        if self._offsets is not None:
            return
        data = self.path.read_bytes() if self.path.exists() else b""
        entries = list(_ENTRY.iter_unpack(data[: len(data) - len(data) % ENTRY_BYTES]))
        self._offsets = array("i", [entry[0] for entry in entries])
        self._positions = array("i", [entry[1] for entry in entries])
        self._saved = len(entries)

    def append(self, offset: int, position: int) -> None:
        assert self._offsets is not None
        self._offsets.append(offset - self._base_offset)
        self._positions.append(position)

    def lookup(self, offset: int) -> int:
        """A position at or before the batch that holds `offset`: where to start looking."""
        relative = offset - self._base_offset
        if self._offsets is not None:
            found = bisect_right(self._offsets, relative) - 1
            return self._positions[found] if found >= 0 else 0
        return self._lookup_in_file(relative)

    def last(self) -> tuple[int, int] | None:
        """The newest entry as (offset, position)."""
        count = len(self)
        if not count:
            return None
        if self._offsets is not None:
            return self._base_offset + self._offsets[-1], self._positions[-1]
        with self.path.open("rb") as file:
            relative, position = _read_entry(file.fileno(), count - 1)
        return self._base_offset + relative, position

    def truncate_to(self, offset: int) -> None:
        """Keep only the entries below `offset`."""
        self.load()
        assert self._offsets is not None
        keep = bisect_right(self._offsets, offset - self._base_offset - 1)
        del self._offsets[keep:], self._positions[keep:]
        if self._saved > keep:
            os.truncate(self.path, keep * ENTRY_BYTES)
            self._saved = keep

    def save(self) -> None:
        """Append to the file what is not there yet."""
        if self._offsets is None or (self._saved == len(self._offsets) and self.path.exists()):
            return
        unsaved = zip(self._offsets[self._saved :], self._positions[self._saved :], strict=True)
        with self.path.open("ab" if self._saved else "wb") as file:
            file.write(b"".join(_ENTRY.pack(*entry) for entry in unsaved))
        self._saved = len(self._offsets)

    def freeze(self) -> None:
        """Save, and search in the file from now on."""
        self.save()
        self._offsets = None
        self._positions = array("i")

    def is_sane(self, log_size_bytes: int) -> bool:
        """Whether the file can be an index of a segment of that size."""
        size = _file_size(self.path)
        if size == 0:
            return self.path.exists() or log_size_bytes == 0
        last = self.last()
        return (
            size % ENTRY_BYTES == 0
            and last is not None
            and last[0] >= self._base_offset
            and 0 <= last[1] < log_size_bytes
        )

    def _lookup_in_file(self, relative: int) -> int:
        low, high = 0, len(self)
        if not high:
            return 0
        position = 0
        with self.path.open("rb") as file:
            while low < high:
                middle = (low + high) // 2
                entry = _read_entry(file.fileno(), middle)
                if entry[0] <= relative:
                    position = entry[1]
                    low = middle + 1
                else:
                    high = middle
        return position


def _read_entry(fd: int, index: int) -> tuple[int, int]:
    relative, position = _ENTRY.unpack(os.pread(fd, ENTRY_BYTES, index * ENTRY_BYTES))
    return relative, position


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
