"""Which transactions that end in a segment were aborted.

File `<base offset>.txnindex`, only there when needed: entries of 34 bytes, big-endian: version
i16 = 0, producer id i64, first offset i64, last offset i64 (the marker's), last stable offset i64.
There are few of them, so that they stay in memory once they were asked for. Like the other indexes
they are saved when the segment is closed.
"""

import struct
from typing import NamedTuple

from kwire.log.files import append_at, read_if_there, unlink_if_there

_ENTRY = struct.Struct(">hqqqq")


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    __slots__ = ("_entries", "_saved", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._entries: list[AbortedTxn] | None = None
        self._saved = 0

    def append(self, aborted: AbortedTxn) -> None:
        self.entries().append(aborted)

    def entries(self) -> list[AbortedTxn]:
        """All of them, by the offsets of their markers; not to be changed."""
        if self._entries is None:
            self._entries = self._read()
            self._saved = len(self._entries)
        return self._entries

    def truncate_to(self, offset: int) -> None:
        """Keep what ended below `offset`."""
        kept = [entry for entry in self.entries() if entry.last_offset < offset]
        if len(kept) != len(self.entries()):
            self.start_empty()
            self._entries = kept

    def start_empty(self, *, is_new: bool = False) -> None:
        """Forget everything, on disk too."""
        self._entries = []
        self._saved = 0
        if not is_new:
            unlink_if_there(self.path)

    def save(self) -> None:
        """Append to the file what is not there yet; nothing to tell, no file."""
        if self._entries is None or len(self._entries) == self._saved:
            return
        data = b"".join(_ENTRY.pack(0, *entry) for entry in self._entries[self._saved :])
        append_at(self.path, data, self._saved * _ENTRY.size)
        self._saved = len(self._entries)

    def is_sane(self, base_offset: int, next_offset: int) -> bool:
        """Whether the file has whole entries of transactions that ended in the segment."""
        if self._entries is not None:
            return True
        data = read_if_there(self.path) or b""
        if len(data) % _ENTRY.size:
            return False
        return all(
            version == 0
            and first_offset <= last_offset
            and base_offset <= last_offset < next_offset
            for version, _, first_offset, last_offset, _ in _ENTRY.iter_unpack(data)
        )

    def _read(self) -> list[AbortedTxn]:
        data = read_if_there(self.path) or b""
        whole = data[: len(data) - len(data) % _ENTRY.size]
        return [AbortedTxn(*entry[1:]) for entry in _ENTRY.iter_unpack(whole)]
