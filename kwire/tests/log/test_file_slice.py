"""Bytes of a segment on their way to a reader."""

import errno
import os
from pathlib import Path

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.file_slice import FileSlice
from kwire.log.files import LogFile, OpenFiles


@pytest.fixture
def file(tmp_path: Path) -> LogFile:
    (tmp_path / "1.log").write_bytes(bytes(range(100)))
    return LogFile(str(tmp_path / "1.log"), OpenFiles(limit=1))


def test_a_slice_is_read_piece_by_piece(file: LogFile) -> None:
    piece, buffer = FileSlice(file, 10, 50, 7), memoryview(bytearray(20))
    assert piece.read_cached(buffer) == 20
    assert bytes(buffer) == bytes(range(10, 30))
    piece.skip(20)
    assert (len(piece), bytes(piece)) == (30, bytes(range(30, 60)))
    file.close()


def test_a_short_slice_is_loaded_at_once(file: LogFile) -> None:
    assert FileSlice(file, 10, 5, 7).load_cached() == bytearray(range(10, 15))
    file.close()


def test_bytes_that_are_not_in_the_page_cache_are_left_to_a_thread(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cold(*_: object) -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "preadv", cold)
    piece = FileSlice(file, 10, 5, 7)
    assert piece.load_cached() is None
    assert piece.read_cached(memoryview(bytearray(5))) == 0
    first = piece.first_bytes(3)
    assert first.read() == bytes(range(10, 13))
    first.release()
    file.close()


def test_a_file_system_that_cannot_say_what_is_cached_is_simply_read(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.preadv

    def without_flags(fd: int, buffers: list[memoryview], offset: int, flags: int = 0) -> int:
        if flags:
            raise OSError(errno.EOPNOTSUPP, "flags are not supported")
        return real(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", without_flags)
    assert FileSlice(file, 10, 5, 7).load_cached() == bytearray(range(10, 15))
    file.close()


def test_a_held_slice_outlives_its_file(file: LogFile) -> None:
    one, two = FileSlice(file, 10, 5, 7), FileSlice(file, 20, 5, 7)
    one.hold()
    two.hold()
    file.close()
    os.unlink(file.path)
    assert bytes(one) == bytes(range(10, 15))
    one.release()
    one.release()
    assert bytes(two) == bytes(range(20, 25))
    two.release()
    with pytest.raises(KafkaStorageError):
        two.load_cached()
    assert file.files.fault is None


def test_a_file_that_was_cut_meanwhile_is_no_fault_of_the_disk(file: LogFile) -> None:
    os.truncate(file.path, 30)
    with pytest.raises(KafkaStorageError, match="ends"):
        bytes(FileSlice(file, 10, 50, 7))
    assert file.files.fault is None
    file.close()


def test_an_io_error_takes_the_directory_offline(
    file: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(KafkaStorageError, match="Input/output error"):
        FileSlice(file, 10, 50, 7).load_cached()
    assert file.files.fault is not None
    file.close()


def test_holding_makes_room_when_the_process_has_no_descriptor_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OpenFiles(limit=8)
    opened = []
    for number in range(4):
        (tmp_path / f"{number}.log").write_bytes(b"abc")
        opened.append(LogFile(str(tmp_path / f"{number}.log"), files))
        opened[-1].fd()
    duplicate = os.dup

    def dup(fd: int) -> int:
        if len(files) == 4:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return duplicate(fd)

    monkeypatch.setattr(os, "dup", dup)
    piece = FileSlice(opened[3], 0, 3, 1)
    piece.hold()
    assert piece.read() == b"abc"
    piece.release()
    for each in opened:
        each.close()
