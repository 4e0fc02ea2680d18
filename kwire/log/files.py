"""The files of a log directory: opened when used, bounded in number, and given up when they fail.

Thousands of segments share a few hundred descriptors. A `LogFile` opens itself when it is used and
may be closed behind its owner's back whenever the loop is not using it. Threads never use its
descriptor: they open the file for themselves, or work on a duplicate.
"""

import errno
import os
import resource
from pathlib import Path

from kwire.errors import KafkaStorageError
from kwire.log.index_cache import IndexCache

_NOWAIT = getattr(os, "RWF_NOWAIT", 0)
_TOO_MANY_OPEN = (errno.EMFILE, errno.ENFILE)


def default_handle_limit() -> int:
    """Half of what the process may open; the other half is for connections."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, min(soft, 65_536) // 2)


class OpenFiles:
    """The open files of one directory; the one not used for longest is closed first.

    `fault` tells why the directory is offline. It is set once and for good: after an I/O error the
    kernel may have dropped what it could not write, so that trying again would prove nothing.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit or default_handle_limit()
        self._open: dict[LogFile, None] = {}
        self.index_cache = IndexCache()
        self.fault: str | None = None

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, file: "LogFile") -> None:
        while len(self._open) >= self._limit:
            self._close_one()
        self._open[file] = None

    def closed(self, file: "LogFile") -> None:
        self._open.pop(file, None)

    def close_some(self) -> None:
        """Make room when the process has no descriptor left."""
        for _ in range((len(self._open) + 1) // 2):
            self._close_one()

    def fail(self, reason: str) -> None:
        if self.fault is None:
            self.fault = reason

    def _close_one(self) -> None:
        """Close the oldest file; one that was used since it was looked at last gets a second go."""
        while True:
            oldest = next(iter(self._open))
            del self._open[oldest]
            if not oldest.was_used:
                return oldest.release()
            oldest.was_used = False
            self._open[oldest] = None


class LogFile:
    __slots__ = ("_fd", "_files", "path", "was_used")

    def __init__(self, path: Path, files: OpenFiles) -> None:
        self.path = path
        self._files = files
        self._fd = -1
        self.was_used = False

    def fd(self) -> int:
        self.was_used = True
        if self._fd < 0:
            self._fd = self._open()
            self._files.opened(self)
        return self._fd

    def create(self) -> None:
        """Make the empty file, without keeping it open; one that is there is never overwritten."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(self.path, flags, 0o644))

    def release(self) -> None:
        """Close the descriptor; called by the common limit."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def close(self) -> None:
        if self._fd >= 0:
            self._files.closed(self)
            self.release()

    def sync(self) -> None:
        os.fdatasync(self.fd())

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        try:
            return os.open(self.path, flags)
        except OSError as error:
            if error.errno not in _TOO_MANY_OPEN:
                raise
        self._files.close_some()
        return os.open(self.path, flags)


class FileSlice:
    """Bytes of a segment that a reader is about to get."""

    __slots__ = ("_file", "_position", "end_offset", "size")

    def __init__(self, file: LogFile, position: int, size: int, end_offset: int) -> None:
        self._file = file
        self._position = position
        self.size = size
        self.end_offset = end_offset

    def load_cached(self) -> bytearray | None:
        """The bytes, if the page cache has all of them; never waits for the disk."""
        data = bytearray(self.size)
        try:
            count = os.preadv(self._file.fd(), [data], self._position, _NOWAIT)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise self._unreadable(error) from error
            # A file system without the question (some overlays): a thread for every read costs
            # all readers more than a cold read costs one.
            return bytearray(self.load())
        return data if count == self.size else None

    def load(self) -> bytes:
        """The bytes, from wherever they are. Safe in a thread."""
        try:
            fd = os.open(self._file.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return read_fully(fd, self.size, self._position)
            finally:
                os.close(fd)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> KafkaStorageError:
        return KafkaStorageError(f"cannot read {self._file.path.name}: {error}")


def read_fully(fd: int, size: int, position: int) -> bytes:
    """Exactly that many bytes; a file that ends too early is an error."""
    data = os.pread(fd, size, position)
    while len(data) < size:
        more = os.pread(fd, size - len(data), position + len(data))
        if not more:
            raise OSError(errno.EIO, f"the file ends before byte {position + size}")
        data += more
    return data


def write_fully(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def append_at(path: Path, data: bytes, position: int) -> None:
    """Let a file hold `data` from `position` on and nothing after it; it is made if need be."""
    if not data and position:
        return
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(fd, position)
        os.lseek(fd, position, os.SEEK_SET)
        write_fully(fd, data)
    finally:
        os.close(fd)


def sync_directory(path: Path) -> None:
    """Make creations, renames and removals in a directory durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a small file as a whole: readers see the old or the new one, also after a crash."""
    temporary = path.with_name(path.name + ".tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        write_fully(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(temporary, path)
    if durable:
        sync_directory(path.parent)
