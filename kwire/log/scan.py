"""Reading a file of batches as one who believes nothing: magic, length and checksum of each."""

import os
from collections.abc import Iterator

from kwire.codec.records.batch import HEADER_BYTES, MAGIC, BatchHeader, crc_holds, parse_header

READ_BYTES = 1024 * 1024


class BatchScan:
    """The good batches of a file with their positions, up to the first that is not good."""

    def __init__(self, path: str, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes
        self._last = 0
        self.end = 0
        """Where the last good batch ends."""
        self.reason = "the file ends here"
        """Why nothing good follows there."""

    def __iter__(self) -> Iterator[tuple[int, BatchHeader]]:
        fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield from self._scan(fd)
        finally:
            os.close(fd)

    def stop(self, reason: str) -> None:
        """The batch told last is not good after all."""
        self.end = self._last
        self.reason = reason

    def _scan(self, fd: int) -> Iterator[tuple[int, BatchHeader]]:
        size = self._size_bytes
        buffer = memoryview(bytearray(min(READ_BYTES, size)))
        position = start = filled = 0
        while position < size:
            at = position - start
            if at + HEADER_BYTES > filled:
                start, at = position, 0
                filled = os.preadv(fd, [buffer], position)
                if filled < HEADER_BYTES:
                    return self._end_with("less than a header is left")
            header = parse_header(buffer, at)
            length = header.size_bytes
            if header.magic != MAGIC:
                return self._end_with(f"no batch of magic 2 but of magic {header.magic}")
            if not HEADER_BYTES <= length <= size - position:
                return self._end_with(f"a batch of {length} bytes cannot be")
            if at + length > filled:
                if length > len(buffer):
                    buffer = memoryview(bytearray(length))
                start, at = position, 0
                filled = os.preadv(fd, [buffer], position)
            if at + length > filled or not crc_holds(buffer, header, at):
                return self._end_with("the checksum does not hold")
            self._last = position
            self.end = following = position + length
            yield position, header
            position = following

    def _end_with(self, reason: str) -> None:
        self.reason = reason
