"""Which transactions that end in a segment were aborted.

File `<base offset>.txnindex`, only there when needed: entries of 34 bytes, big-endian: version
i16 = 0, producer id i64, first offset i64, last offset i64 (the marker's), last stable offset i64.
"""

import struct
from pathlib import Path
from typing import NamedTuple

_ENTRY = struct.Struct(">hqqqq")


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, aborted: AbortedTxn) -> None:
        with self.path.open("ab") as file:
            file.write(_ENTRY.pack(0, *aborted))

    def entries(self) -> list[AbortedTxn]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        whole = data[: len(data) - len(data) % _ENTRY.size]
        return [AbortedTxn(*entry[1:]) for entry in _ENTRY.iter_unpack(whole)]

    def truncate_to(self, offset: int) -> None:
        """Keep what ended below `offset`."""
        kept = [entry for entry in self.entries() if entry.last_offset < offset]
        self.start_empty()
        for entry in kept:
            self.append(entry)

    def start_empty(self) -> None:
        self.path.unlink(missing_ok=True)
