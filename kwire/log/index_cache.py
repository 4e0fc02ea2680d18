"""Entries of closed segments' indexes: those used last stay in memory, up to a number of bytes."""

from array import array
from typing import TypeAlias

Columns: TypeAlias = tuple["array[int]", "array[int]"]

DEFAULT_LIMIT_BYTES = 16 * 1024 * 1024


class IndexCache:
    def __init__(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: dict[object, Columns] = {}
        self.size_bytes = 0

    def get(self, index: object) -> Columns | None:
        """What is kept for an index, which counts as used now."""
        columns = self._kept.pop(index, None)
        if columns is not None:
            self._kept[index] = columns
        return columns

    def put(self, index: object, columns: Columns) -> None:
        """Keep the columns; one index is kept even if it is larger than the limit."""
        self.drop(index)
        self._kept[index] = columns
        self.size_bytes += _size_of(columns)
        while self.size_bytes > self._limit_bytes and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop(self, index: object) -> None:
        columns = self._kept.pop(index, None)
        if columns is not None:
            self.size_bytes -= _size_of(columns)


def _size_of(columns: Columns) -> int:
    return sum(len(column) * column.itemsize for column in columns)
