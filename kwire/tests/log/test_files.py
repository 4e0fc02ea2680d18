"""Descriptors, faults, and writes that fail in the middle."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.files import LogFile, OpenFiles, append_at, read_last, write_atomically
from kwire.log.partition_log import PartitionLog
from kwire.tests.log.logs import Directory, append, offsets

real_write = os.write


def failing(error: int) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    return fail


def test_the_file_not_used_for_longest_is_closed_first(tmp_path: Path) -> None:
    files = OpenFiles(limit=2)
    a, b, c = (LogFile(str(tmp_path / name), files) for name in "abc")
    for file in (a, b, c):
        file.create()
    a.fd()
    b.fd()
    files.close_some()
    assert len(files) == 1
    c.fd()
    a.fd()
    assert len(files) == 2
    for file in (a, b, c):
        file.close()
    assert len(files) == 0


def test_a_file_is_opened_when_others_make_room_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OpenFiles(limit=10)
    one, two = LogFile(str(tmp_path / "1"), files), LogFile(str(tmp_path / "2"), files)
    one.create()
    two.create()
    one.fd()
    real_open = os.open
    refused: list[str] = []

    def open_once_refused(path: str, flags: int, mode: int = 0o777) -> int:
        if not refused:
            refused.append(path)
            raise OSError(errno.EMFILE, "no descriptor left")
        return real_open(path, flags, mode)

    monkeypatch.setattr(os, "open", open_once_refused)
    two.fd()
    assert len(files) == 1
    two.close()


def test_a_full_disk_refuses_the_batch_and_leaves_no_trace_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(tmp_path)
    log = directory.log
    append(log, 2)
    size = directory.file("00000000000000000000.log").stat().st_size
    for write in (failing(errno.ENOSPC), lambda fd, data: real_write(fd, bytes(data)[:50])):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", write)
            with pytest.raises(KafkaStorageError, match="No space left"):
                append(log, 2)
        assert directory.file("00000000000000000000.log").stat().st_size == size
        assert (log.next_offset, log.is_failed) == (2, False)
    append(log, 3)
    for clean in (True, False):
        assert offsets(directory.restart(clean=clean)) == [0, 1, 2, 3, 4]


def test_a_full_disk_at_a_roll_refuses_the_batch_and_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(tmp_path, segment_bytes=1000)
    append(directory.log, size_bytes=900)
    real_open = os.open

    def no_new_files(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real_open(path, flags, mode)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_new_files)
        with pytest.raises(KafkaStorageError, match="No space left"):
            append(directory.log, size_bytes=900)
    assert len(directory.log.segments) == 1
    append(directory.log, size_bytes=900)
    assert offsets(directory.restart()) == [0, 1]


def test_a_full_disk_for_indexes_only_costs_a_rebuild(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(tmp_path, segment_bytes=4000, index_interval_bytes=100)
    for _ in range(8):
        append(directory.log, size_bytes=450)
    monkeypatch.setattr("kwire.log.files.write_fully", failing(errno.ENOSPC))
    append(directory.log, size_bytes=450)
    monkeypatch.undo()
    assert "00000000000000000000.index" not in directory.names()
    assert offsets(directory.restart()) == [*range(9)]
    assert directory.file("00000000000000000000.index").stat().st_size == 7 * 8


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_an_io_error_takes_the_directory_offline_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    directory = Directory(tmp_path)
    other = directory.store.open_or_create("other", 0, bytes(16), directory.config)
    append(directory.log)
    append(other)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(errno.EIO))
        use = directory.log.flush if call == "fdatasync" else lambda: append(directory.log)
        with pytest.raises(KafkaStorageError, match="Input/output error"):
            use()
    assert directory.store.fault is not None
    for log in (directory.log, other):
        uses = (append, lambda log: log.read(0, 100, end_offset=1), PartitionLog.flush)
        for use_log in uses:
            with pytest.raises(KafkaStorageError, match="the log directory is offline"):
                use_log(log)
    with pytest.raises(KafkaStorageError):
        directory.store.open_or_create("third", 0, bytes(16), directory.config)
    assert (directory.log.next_offset, directory.log.recovery_point) == (1, 0)
    # Not clean: the next start reads everything that was not known to be on disk.
    assert offsets(directory.restart()) == [0]
    assert not directory.store.was_clean


def test_a_batch_that_cannot_be_cut_off_again_takes_the_directory_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(tmp_path)
    append(directory.log)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real_write(fd, bytes(data)[:50]))
        patch.setattr(os, "truncate", failing(errno.ENOSPC))
        with pytest.raises(KafkaStorageError, match="cut"):
            append(directory.log)
    assert directory.store.fault is not None
    assert offsets(directory.restart()) == [0]


def test_half_an_index_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "index")
    append_at(path, b"12345678", 0)
    append_at(path, b"abcdefgh", 8)
    assert read_last(path, 8) == (2, b"abcdefgh")
    append_at(path, b"", 8)
    assert read_last(path, 8) == (2, b"abcdefgh")
    monkeypatch.setattr(os, "write", failing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        append_at(path, b"ijklmnop", 16)
    assert not os.path.exists(path)


def test_a_torn_file_of_entries_has_no_last_entry(tmp_path: Path) -> None:
    path = tmp_path / "index"
    assert read_last(str(path), 8) is None
    path.write_bytes(b"")
    assert read_last(str(path), 8) == (0, b"")
    path.write_bytes(b"12345678abc")
    assert read_last(str(path), 8) is None


def test_a_small_file_is_replaced_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint"
    write_atomically(str(path), b"old")
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match="error"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
