"""The files of a log directory: opened when used, bounded in number, and given up when they fail.

Thousands of segments share a few hundred descriptors. A `LogFile` opens itself when it is used and
may be closed behind its owner's back whenever the loop is not using it. Threads never use its
descriptor: they open the file for themselves, or work on a duplicate.
"""

import errno
import logging
import os
import resource
from collections.abc import Iterable
from contextlib import suppress

from kwire.errors import KafkaStorageError
from kwire.log.index_cache import IndexCache

TOO_MANY_OPEN = (errno.EMFILE, errno.ENFILE)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, *TOO_MANY_OPEN)
_NAMES = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM)
_HARMLESS = frozenset((*_NO_ROOM, *_NAMES))
"""Errors that say nothing about what is on disk already: no room, or a name that is in the way."""

_log = logging.getLogger(__name__)


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

    def refusal(self, doing: str, error: OSError) -> KafkaStorageError:
        """What to tell whoever asked; if the disk itself is at fault, the directory is given up."""
        if error.errno in _HARMLESS:
            return KafkaStorageError(f"cannot {doing}: {error}")
        return self.give_up(doing, error)

    def give_up(self, doing: str, error: Exception) -> KafkaStorageError:
        """Take the directory offline; only the first reason is kept and logged."""
        reason = f"cannot {doing}: {error}"
        if self.fault is None:
            self.fault = f"the log directory is offline: {reason}"
            _log.error("log directory offline: %s", reason)
        return KafkaStorageError(reason)

    def offline(self) -> KafkaStorageError:
        return KafkaStorageError(self.fault)

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
    __slots__ = ("_fd", "files", "path", "was_used")

    def __init__(self, path: str, files: OpenFiles) -> None:
        self.path = path
        self.files = files
        self._fd = -1
        self.was_used = False

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def fd(self) -> int:
        self.was_used = True
        if self._fd < 0:
            self._fd = self._open()
            self.files.opened(self)
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
            self.files.closed(self)
            self.release()

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        try:
            return os.open(self.path, flags)
        except OSError as error:
            if error.errno not in TOO_MANY_OPEN:
                raise
        self.files.close_some()
        return os.open(self.path, flags)


def read_fully(fd: int, size: int, position: int) -> bytes:
    """Exactly that many bytes; EOFError when the file ends before."""
    data = os.pread(fd, size, position)
    while len(data) < size:
        more = os.pread(fd, size - len(data), position + len(data))
        if not more:
            raise EOFError(f"the file ends before byte {position + size}")
        data += more
    return data


def read_if_there(path: str) -> bytes | None:
    """A small file as a whole, None if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return read_fully(fd, os.fstat(fd).st_size, 0)
    finally:
        os.close(fd)


def read_last(path: str, entry_bytes: int) -> tuple[int, bytes] | None:
    """How many entries a file has, and the last one; None if it is missing or torn."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        size = os.fstat(fd).st_size
        if size % entry_bytes:
            return None
        return size // entry_bytes, os.pread(fd, entry_bytes, max(0, size - entry_bytes))
    finally:
        os.close(fd)


def write_fully(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def append_at(path: str, data: bytes, position: int) -> None:
    """Let a file hold `data` from `position` on and nothing after it; it is made if need be.

    A file of which only a part could be written is removed: half an index is worse than none.
    """
    if not data and position:
        return
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(fd, position)
        os.lseek(fd, position, os.SEEK_SET)
        write_fully(fd, data)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(fd)


def unlink_if_there(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def sync_path(path: str) -> None:
    """Bring a file to the disk, or what a directory lists."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_paths(paths: Iterable[str]) -> None:
    """Sync those that are still there: an index may have left with its segment."""
    for path in paths:
        with suppress(FileNotFoundError):
            sync_path(path)


def write_atomically(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replace a small file as a whole: readers see the old or the new one, also after a crash."""
    temporary = path + ".tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        write_fully(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(temporary, path)
    if durable:
        sync_path(os.path.dirname(path))
