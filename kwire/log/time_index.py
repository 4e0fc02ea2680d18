"""The sparse index from timestamps to offsets in a segment.

File `<base offset>.timeindex`: entries of 12 bytes, big-endian: timestamp i64, relative offset i32.
The timestamps strictly increase; the offset is the last one of the batch that brought that maximum.
Every segment's last entry holds its largest timestamp, written on roll and close.
"""

import os
import struct
from array import array
from bisect import bisect_left
from itertools import pairwise
from pathlib import Path

ENTRY_BYTES = 12

_ENTRY = struct.Struct(">qi")


class TimeIndex:
    __slots__ = ("_base_offset", "_offsets", "_saved", "_timestamps", "path")

    def __init__(self, path: Path, base_offset: int) -> None:
        self.path = path
        self._base_offset = base_offset
        self._timestamps: array[int] | None = None
        self._offsets: array[int] = array("i")
        self._saved = 0

    def __len__(self) -> int:
        return len(self._read()[0])

    def start_empty(self) -> None:
        self._timestamps = array("q")
        self._offsets = array("i")
        self._saved = 0
        self.path.unlink(missing_ok=True)

    def load(self) -> None:
        if self._timestamps is None:
            self._timestamps, self._offsets = self._read()
            self._saved = len(self._timestamps)

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Add an entry if the timestamp is larger than every one before."""
        assert self._timestamps is not None
        if timestamp >= 0 and (not self._timestamps or timestamp > self._timestamps[-1]):
            self._timestamps.append(timestamp)
            self._offsets.append(offset - self._base_offset)

    def lookup(self, timestamp: int) -> int:
        """An offset at or before the first record with a timestamp of at least `timestamp`."""
        timestamps, offsets = self._read()
        found = bisect_left(timestamps, timestamp) - 1
        return self._base_offset + (offsets[found] if found >= 0 else 0)

    def last(self) -> tuple[int, int] | None:
        """The newest entry as (timestamp, offset)."""
        timestamps, offsets = self._read()
        if not timestamps:
            return None
        return timestamps[-1], self._base_offset + offsets[-1]

    def truncate_to(self, offset: int) -> None:
        self.load()
        assert self._timestamps is not None
        keep = bisect_left(self._offsets, offset - self._base_offset)
        del self._timestamps[keep:], self._offsets[keep:]
        if self._saved > keep:
            os.truncate(self.path, keep * ENTRY_BYTES)
            self._saved = keep

    def save(self) -> None:
        if self._timestamps is None or (
            self._saved == len(self._timestamps) and self.path.exists()
        ):
            return
        unsaved = zip(self._timestamps[self._saved :], self._offsets[self._saved :], strict=True)
        with self.path.open("ab" if self._saved else "wb") as file:
            file.write(b"".join(_ENTRY.pack(*entry) for entry in unsaved))
        self._saved = len(self._timestamps)

    def freeze(self) -> None:
        self.save()
        self._timestamps = None
        self._offsets = array("i")

    def is_sane(self) -> bool:
        """Whether the file has whole entries in rising order."""
        if not self.path.exists() or self.path.stat().st_size % ENTRY_BYTES:
            return False
        timestamps, offsets = self._read()
        return all(a < b for a, b in pairwise(timestamps)) and all(
            a <= b for a, b in pairwise(offsets)
        )

    def _read(self) -> tuple["array[int]", "array[int]"]:
        if self._timestamps is not None:
            return self._timestamps, self._offsets
        data = self.path.read_bytes() if self.path.exists() else b""
        entries = list(_ENTRY.iter_unpack(data[: len(data) - len(data) % ENTRY_BYTES]))
        return array("q", [e[0] for e in entries]), array("i", [e[1] for e in entries])
