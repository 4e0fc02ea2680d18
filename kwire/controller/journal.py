"""A file of records, each on disk before the next begins: `kwire-metadata-journal`.

    record  u32 length of the body · u32 crc32c of the body · body       (big endian)
    body    {"zxid": number of the transaction, "ops": [...]}, JSON; `local_store` knows the ops

Since a record is synced before the next is written, only the last one can be torn by a crash. So
bytes that make no record are cut off at the end of the file, and are damage anywhere else.
"""

import errno
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from kwire.codec.records.crc import crc32c
from kwire.errors import KwireError
from kwire.log.files import write_atomically

BODY_START = b'{"zxid":'
_HEADER = struct.Struct(">II")


class DamagedMetadata(KwireError):
    """A metadata file cannot be what was written; serving from it would make up a cluster."""


class Journal:
    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists():
            write_atomically(str(path), b"")
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.size_bytes = os.fstat(self._fd).st_size
        self._fault: str | None = None

    def read(self) -> Iterator[tuple[int, bytes]]:
        """Position and body of every record; a torn one at the end is cut off.

        Raises DamagedMetadata if whole records follow one that is not.
        """
        data = self._path.read_bytes()
        position = 0
        while position < len(data):
            body = read_record(data, position)
            if body is None:
                self._check_nothing_follows(data, position)
                self.size_bytes = position
                os.ftruncate(self._fd, position)
                os.fsync(self._fd)
                return
            yield position, body
            position += _HEADER.size + len(body)

    def is_all_garbage(self) -> bool:
        """Whether there are bytes, but not one whole record among them."""
        data = self._path.read_bytes()
        return bool(data) and read_record(data, 0) is None

    def append(self, body: bytes) -> None:
        """Bring a record to the disk; after an OSError the file is as it was before."""
        if self._fault is not None:
            raise OSError(errno.EIO, self._fault)
        record = memoryview(frame(body))
        try:
            written = 0
            while written < len(record):
                written += os.pwrite(self._fd, record[written:], self.size_bytes + written)
            os.fdatasync(self._fd)
        except OSError:
            self._cut_back()
            raise
        self.size_bytes += len(record)

    def restart(self) -> None:
        """Forget all records: a snapshot holds what they said."""
        os.ftruncate(self._fd, 0)
        self.size_bytes = 0
        os.fsync(self._fd)

    def close(self) -> None:
        os.close(self._fd)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._fd, self.size_bytes)
        except OSError as error:
            # What the file ends with is not known any more: nothing may be written behind it.
            self._fault = f"{self._path.name} could not be cut back: {error}"

    def _check_nothing_follows(self, data: bytes, position: int) -> None:
        start = data.find(BODY_START, position + _HEADER.size)
        while start >= 0:
            following = start - _HEADER.size
            if following > position and read_record(data, following) is not None:
                raise DamagedMetadata(
                    f"{self._path} is damaged: no record at byte {position}, but one at byte"
                    f" {following}. Restore the file from a backup, or move it and the snapshot"
                    " beside it away to start with the topics found on disk."
                )
            start = data.find(BODY_START, start + 1)


def frame(body: bytes) -> bytes:
    return _HEADER.pack(len(body), crc32c(body)) + body


def read_record(data: bytes, position: int) -> bytes | None:
    """The body of the record at a position, if there is a whole and sound one."""
    start = position + _HEADER.size
    if start > len(data):
        return None
    length, checksum = _HEADER.unpack_from(data, position)
    body = data[start : start + length]
    if not body or len(body) < length or crc32c(body) != checksum:
        return None
    return body
