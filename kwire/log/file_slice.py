"""Bytes of a segment that a reader is about to get, read piece by piece as they are sent.

Most slices are sent in the turn of the loop in which they were found. One that takes longer must be
held: meanwhile its segment may be deleted, or replaced by a compacted one of the same name, or its
file closed in favour of another. All held slices of one file share one descriptor.
"""

import errno
import os

from kwire.errors import KafkaStorageError
from kwire.log.files import TOO_MANY_OPEN, LogFile, read_fully

_NOWAIT = getattr(os, "RWF_NOWAIT", 0)


class FileSlice:
    __slots__ = ("_file", "_held", "_position", "end_offset", "size")

    def __init__(self, file: LogFile, position: int, size: int, end_offset: int) -> None:
        self._file = file
        self._held: _SharedDescriptor | None = None
        self._position = position
        self.size = size
        """How many bytes are still to come."""
        self.end_offset = end_offset

    def __len__(self) -> int:
        return self.size

    def __bytes__(self) -> bytes:
        """All of it at once, for whoever may wait and has the memory."""
        whole = self.first_bytes(self.size)
        try:
            return whole.read()
        finally:
            whole.release()

    def read_cached(self, buffer: memoryview) -> int:
        """Fill `buffer` as far as the page cache can; 0 means that the disk must be asked."""
        try:
            fd = self._file.fd() if self._held is None else self._held.fd
            count = os.preadv(fd, [buffer], self._position, _NOWAIT)
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise self._unreadable(error) from error
            # A file system without the question (some overlays): a thread for every read costs
            # all readers more than a cold read costs one.
            count = os.preadv(fd, [buffer], self._position)
        if not count:
            raise self._unreadable(EOFError("it ends too early"))
        return count

    def load_cached(self) -> bytearray | None:
        """All of it, if the page cache has it; for slices so short that pieces do not pay."""
        data = bytearray(self.size)
        return data if self.read_cached(memoryview(data)) == self.size else None

    def skip(self, count: int) -> None:
        """Those bytes were sent."""
        self._position += count
        self.size -= count

    def hold(self) -> None:
        """Let nobody take the bytes away until `release`."""
        if self._held is None:
            self._held = _shared(self._file)
            self._held.readers += 1

    def release(self) -> None:
        """Nobody reads this slice any more."""
        if self._held is not None:
            held, self._held = self._held, None
            held.readers -= 1
            if not held.readers:
                del _held[self._file]
                os.close(held.fd)

    def first_bytes(self, size: int) -> "FileSlice":
        """The beginning as a held slice of its own, for a thread to `read`."""
        first = FileSlice(self._file, self._position, min(size, self.size), self.end_offset)
        first.hold()
        return first

    def read(self) -> bytes:
        """All of it, from wherever it is. Safe in a thread, for a slice that is held."""
        assert self._held is not None
        try:
            return read_fully(self._held.fd, self.size, self._position)
        except (OSError, EOFError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError | EOFError) -> KafkaStorageError:
        """A file that is gone or cut was so by our own doing; other errors are the disk's."""
        if isinstance(error, EOFError | FileNotFoundError):
            return KafkaStorageError(f"cannot read {self._file.name}: {error}")
        return self._file.files.refusal(f"read {self._file.name}", error)


class _SharedDescriptor:
    __slots__ = ("fd", "readers")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.readers = 0


_held: dict[LogFile, _SharedDescriptor] = {}


def _shared(file: LogFile) -> _SharedDescriptor:
    shared = _held.get(file)
    if shared is None:
        shared = _held[file] = _SharedDescriptor(_duplicate(file))
    return shared


def _duplicate(file: LogFile) -> int:
    try:
        return os.dup(file.fd())
    except OSError as error:
        if error.errno not in TOO_MANY_OPEN:
            raise
    file.files.close_some()
    return os.dup(file.fd())
