"""The sparse index from offsets to positions in a segment.

File `<base offset>.index`: entries of 8 bytes, big-endian: relative offset i32, position i32, both
strictly rising. An entry names the *last* offset of the very batch that starts at the position,
which is what Kafka's dump tool looks for. Entries of the active segment are in memory and saved
when it is checkpointed, rolled or closed; those of a closed one are loaded when somebody looks
something up.

There is no checksum. `peek` tells a file that cannot be right; an entry that is used is compared
with the batch it points to, and if it lies, looking up starts at the front of the segment, which is
slow and correct.
"""

import struct
import sys
from array import array
from bisect import bisect_right

from kwire.log.files import append_at, read_if_there, read_last, unlink_if_there
from kwire.log.index_cache import Columns, IndexCache

ENTRY_BYTES = 8

_ENTRY = struct.Struct(">ii")


class OffsetIndex:
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
        self._growing = array("i"), array("i")
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

    def append(self, offset: int, position: int) -> None:
        if self._growing is None:
            self.load()
        assert self._growing is not None
        offsets, positions = self._growing
        offsets.append(offset - self._base_offset)
        positions.append(position)

    def lookup(self, offset: int) -> tuple[int, int] | None:
        """The last entry (offset, position) at or below `offset`: where to start looking."""
        offsets, positions = self._columns()
        found = bisect_right(offsets, offset - self._base_offset) - 1
        if found < 0:
            return None
        return self._base_offset + offsets[found], positions[found]

    def last(self) -> tuple[int, int] | None:
        """The newest entry as (offset, position)."""
        offsets, positions = self._columns()
        return (self._base_offset + offsets[-1], positions[-1]) if offsets else None

    def peek(self, log_size_bytes: int) -> tuple[int, int, int] | None:
        """How many entries the file has, and the last one's offset and position, (base, 0) if none.

        None if there is no file that can be an index of a segment of that size.
        """
        found = read_last(self.path, ENTRY_BYTES)
        if found is None:
            return None
        count, entry = found
        if not count:
            return 0, self._base_offset, 0
        relative, position = _ENTRY.unpack(entry)
        if relative < 0 or not 0 <= position < log_size_bytes or count * ENTRY_BYTES > position:
            return None
        return count, self._base_offset + relative, position

    def truncate_to(self, offset: int) -> None:
        """Keep only the entries below `offset`."""
        self.load()
        assert self._growing is not None
        offsets, positions = self._growing
        keep = bisect_right(offsets, offset - self._base_offset - 1)
        del offsets[keep:], positions[keep:]
        if self._saved > keep or not self._saved:
            self._saved = 0
            unlink_if_there(self.path)

    def save(self) -> None:
        """Append to the file what is not there yet."""
        if self._growing is None:
            return
        offsets, positions = self._growing
        mixed = array("i", bytes(ENTRY_BYTES * (len(offsets) - self._saved)))
        mixed[0::2], mixed[1::2] = offsets[self._saved :], positions[self._saved :]
        append_at(self.path, swapped(mixed).tobytes(), self._saved * ENTRY_BYTES)
        self._saved = len(offsets)

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
        self._cache.put(self, (array("i"), array("i")))

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
        return mixed[0::2], mixed[1::2]


def swapped(column: "array[int]") -> "array[int]":
    """From or to big-endian, in place."""
    if sys.byteorder == "little":
        column.byteswap()
    return column
