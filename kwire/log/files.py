"""Open files, bounded: thousands of segments share a few hundred descriptors.

A `LogFile` opens itself when it is used and may be closed behind its owner's back at any time the
loop is not using it. Threads never use its descriptor: they open the file for themselves.
"""

import os
import resource
from collections import deque
from pathlib import Path

from kwire.errors import KafkaStorageError

_NOWAIT = getattr(os, "RWF_NOWAIT", 0)


def default_handle_limit() -> int:
    """Half of what the process may open; the other half is for connections."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, min(soft, 65_536) // 2)


class OpenFiles:
    """Closes the file that was not used for longest when too many are open (second chance)."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit or default_handle_limit()
        self._open: deque[LogFile] = deque()

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, file: "LogFile") -> None:
        while len(self._open) >= self._limit:
            oldest = self._open.popleft()
            if oldest.was_used:
                oldest.was_used = False
                self._open.append(oldest)
            else:
                oldest.release()
        self._open.append(file)

    def closed(self, file: "LogFile") -> None:
        if file in self._open:
            self._open.remove(file)


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
            self._fd = os.open(
                self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
            self._files.opened(self)
        return self._fd

    def release(self) -> None:
        """Close the descriptor; called by the common limit."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def close(self) -> None:
        if self._fd >= 0:
            self._files.closed(self)
            self.release()

    def rename(self, suffix: str) -> Path:
        """Add or replace the suffix of the file on disk."""
        target = self.path.with_name(self.path.name + suffix)
        os.rename(self.path, target)
        self.path = target
        return target

    def sync(self) -> None:
        os.fdatasync(self.fd())


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
            raise KafkaStorageError(f"cannot read {self._file.path.name}: {error}") from error
        return data if count == self.size else None

    def load(self) -> bytes:
        """The bytes, from wherever they are. Safe in a thread."""
        fd = os.open(self._file.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.pread(fd, self.size, self._position)
            while len(data) < self.size:
                more = os.pread(fd, self.size - len(data), self._position + len(data))
                if not more:
                    raise KafkaStorageError(f"{self._file.path.name} ends too early")
                data += more
            return data
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
        os.write(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(temporary, path)
    if durable:
        sync_directory(path.parent)
