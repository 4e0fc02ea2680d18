"""Standard input as records: cut at a delimiter, in bounded memory, as soon as it comes."""

import os
import select
from collections.abc import Iterator
from typing import NamedTuple

from kwire.cli.failures import CommandFailed

READ_BYTES = 256 * 1024
LONGEST_LINE_BYTES = 128 * 1024 * 1024
LINGER_S = 0.005


class Piece(NamedTuple):
    """Some lines, and whether nothing comes right behind them."""

    lines: list[bytes]
    is_followed_by_pause: bool


def each_piece(descriptor: int, delimiter: bytes = b"\n") -> Iterator[Piece]:
    """Read to the end. What follows the last delimiter is a line too, unless it is empty."""
    buffer = bytearray()
    while chunk := os.read(descriptor, READ_BYTES):
        # A delimiter may begin in the last chunk and end in this one.
        unseen = max(0, len(buffer) - len(delimiter) + 1)
        buffer += chunk
        end = buffer.rfind(delimiter, unseen)
        if end >= 0:
            lines = bytes(memoryview(buffer)[:end]).split(delimiter)
            del buffer[: end + len(delimiter)]
            yield Piece(lines, not _has_more(descriptor))
        if len(buffer) > LONGEST_LINE_BYTES:
            raise CommandFailed(f"a line is longer than {LONGEST_LINE_BYTES} bytes")
    if buffer:
        yield Piece([bytes(buffer)], True)


def _has_more(descriptor: int) -> bool:
    """Whether input goes on, or ends, within a moment worth waiting for."""
    return bool(select.select([descriptor], [], [], LINGER_S)[0])
