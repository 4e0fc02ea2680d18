"""The sparse index from timestamps to offsets in a segment.

File `<base offset>.timeindex`: entries of 12 bytes, big-endian: timestamp i64, relative offset i32.
The timestamps strictly rise; the offset is the last one of the batch that brought that maximum.
With each entry of the offset index there is one here if the maximum grew; a segment's last entry,
written on roll and close, holds its largest timestamp. As in `offset_index`, entries are compared
with the batches they speak of when they are used.
"""

import struct
import sys
from array import array
from bisect import bisect_left

from kwire.log.files import append_at, read_if_there, read_last, unlink_if_there
from kwire.log.index_cache import Columns, IndexCache
from kwire.log.offset_index import swapped

ENTRY_BYTES = 12

_ENTRY = struct.Struct(">qi")
_HIGH = 1 if sys.byteorder == "little" else 0
"""Which half of a number is the higher one."""


class TimeIndex:
    __slots__ = ("_base_offset", "_cache", "_growing", "_saved", "path")

    def __init__(self, path: str, base_offset: int, cache: IndexCache) -> None:
        self.path = path
        self._base_offset = base_offset
        self._cache = cache
        self._growing: Columns | None = None
        self._saved = 0

    def __len__(self) -> int:
        return len(self._columns()[0])

    def start_empty(self, *, is_new: bool = False) -> None:
        """Forget everything, on disk too: a new segment, or one whose index is built again."""
        self._growing = array("q"), array("i")
        self._saved = 0
        self._cache.drop(self)
        if not is_new:
            unlink_if_there(self.path)

    def load(self) -> None:
        """Hold the entries in memory for good: the segment will be appended to."""
        if self._growing is None:
            self._growing = self._columns()
            self._cache.drop(self)
            self._saved = len(self._growing[0])

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Add an entry if the timestamp is larger than every one before."""
        if self._growing is None:
            self.load()
        assert self._growing is not None
        timestamps, offsets = self._growing
        if timestamp >= 0 and (not timestamps or timestamp > timestamps[-1]):
            timestamps.append(timestamp)
            offsets.append(offset - self._base_offset)

    def lookup(self, timestamp: int) -> tuple[int, int] | None:
        """The last entry (timestamp, offset) that is below `timestamp`: where to start looking."""
        timestamps, offsets = self._columns()
        found = bisect_left(timestamps, timestamp) - 1
        return (timestamps[found], self._base_offset + offsets[found]) if found >= 0 else None

    def last(self) -> tuple[int, int] | None:
        """The newest entry as (timestamp, offset)."""
        timestamps, offsets = self._columns()
        return (timestamps[-1], self._base_offset + offsets[-1]) if timestamps else None

    def peek(self) -> tuple[int, int] | None:
        """The newest entry in the file, (-1, base) if there is none; None if there is no file."""
        found = read_last(self.path, ENTRY_BYTES)
        if found is None:
            return None
        count, entry = found
        if not count:
            return -1, self._base_offset
        timestamp, relative = _ENTRY.unpack(entry)
        return (timestamp, self._base_offset + relative) if min(timestamp, relative) >= 0 else None

    def truncate_to(self, offset: int) -> None:
        """Keep only the entries below `offset`."""
        self.load()
        assert self._growing is not None
        timestamps, offsets = self._growing
        keep = bisect_left(offsets, offset - self._base_offset)
        del timestamps[keep:], offsets[keep:]
        if self._saved > keep or not self._saved:
            self._saved = 0
            unlink_if_there(self.path)

    def save(self) -> None:
        """Append to the file what is not there yet."""
        if self._growing is None:
            return
        timestamps, offsets = self._growing
        high, low = _split(timestamps[self._saved :])
        mixed = array("i", bytes(ENTRY_BYTES * len(high)))
        mixed[0::3], mixed[1::3], mixed[2::3] = high, low, offsets[self._saved :]
        append_at(self.path, swapped(mixed).tobytes(), self._saved * ENTRY_BYTES)
        self._saved = len(timestamps)

    def freeze(self) -> None:
        """Save, and load again only when asked."""
        self.save()
        if self._growing is not None:
            self._cache.put(self, self._growing)
            self._growing = None

    def unload(self) -> None:
        """Keep nothing in memory; what was not saved is lost."""
        self._growing = None
        self._cache.drop(self)

    def move_to(self, cache: IndexCache) -> None:
        self.unload()
        self._cache = cache

    def distrust(self) -> None:
        """An entry was found wrong: use none of them until the index is built again."""
        self._cache.put(self, (array("q"), array("i")))

    def _columns(self) -> Columns:
        if self._growing is not None:
            return self._growing
        columns = self._cache.get(self)
        if columns is None:
            columns = self._read()
            self._cache.put(self, columns)
        return columns

    def _read(self) -> Columns:
        data = read_if_there(self.path) or b""
        mixed = swapped(array("i", data[: len(data) - len(data) % ENTRY_BYTES]))
        return _join(mixed[0::3], mixed[1::3]), mixed[2::3]


def _split(timestamps: "array[int]") -> tuple["array[int]", "array[int]"]:
    """The higher and the lower halves: an index of a million entries is no time for a loop."""
    halves = array("i", timestamps.tobytes())
    return halves[_HIGH::2], halves[1 - _HIGH :: 2]


def _join(high: "array[int]", low: "array[int]") -> "array[int]":
    halves = array("i", bytes(8 * len(high)))
    halves[_HIGH::2], halves[1 - _HIGH :: 2] = high, low
    return array("q", halves.tobytes())
