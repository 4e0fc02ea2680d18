"""The journal: what it gives back, what a crash may cost, and what it refuses to guess."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.controller.journal import DamagedMetadata, Journal, frame, read_record

FIRST, SECOND, THIRD = (b'{"zxid":%d,"ops":[]}' % zxid for zxid in (1, 2, 3))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    opened = Journal(path)
    yield opened
    opened.close()


def _bodies(path: Path) -> list[bytes]:
    journal = Journal(path)
    try:
        return [body for _, body in journal.read()]
    finally:
        journal.close()


def test_records_come_back_in_order_with_their_positions(path: Path, journal: Journal) -> None:
    journal.append(FIRST)
    journal.append(SECOND)
    assert list(journal.read()) == [(0, FIRST), (len(frame(FIRST)), SECOND)]
    assert journal.size_bytes == path.stat().st_size


def test_a_record_is_its_length_its_checksum_and_its_body(path: Path, journal: Journal) -> None:
    journal.append(b"123456789")
    # The checksum is the check value that is published for CRC-32C.
    assert path.read_bytes() == bytes.fromhex("00000009e3069283") + b"123456789"


def test_a_record_that_was_cut_anywhere_is_dropped_and_the_file_cut_back(path: Path) -> None:
    whole = frame(FIRST) + frame(SECOND)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        kept = [FIRST] if size >= len(frame(FIRST)) else []
        assert _bodies(path) == kept, size
        assert path.read_bytes() == b"".join(map(frame, kept)), size


@pytest.mark.parametrize("tail", [bytes(4096), b"\xff" * 100, frame(THIRD)[:-1] + b"?", b"\0"])
def test_bytes_at_the_end_that_make_no_record_are_dropped(path: Path, tail: bytes) -> None:
    path.write_bytes(frame(FIRST) + frame(SECOND) + tail)
    assert _bodies(path) == [FIRST, SECOND]
    assert path.stat().st_size == len(frame(FIRST) + frame(SECOND))


def test_a_flipped_bit_before_the_last_record_is_damage_named_by_its_byte(path: Path) -> None:
    whole = frame(FIRST) + frame(SECOND) + frame(THIRD)
    start = len(frame(FIRST))
    for at in range(start, start + len(frame(SECOND))):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(DamagedMetadata, match=rf"journal is damaged: .* at byte {start},"):
            _bodies(path)
        assert path.stat().st_size == len(whole), "nothing is cut off a damaged file"


def test_what_follows_an_appended_record_is_appended_after_it(path: Path, journal: Journal) -> None:
    journal.append(FIRST)
    journal.restart()
    assert path.stat().st_size == 0
    journal.append(SECOND)
    assert _bodies(path) == [SECOND]


@pytest.mark.parametrize("step", ["pwrite", "fdatasync"])
def test_a_record_that_does_not_reach_the_disk_leaves_the_file_as_it_was(
    path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    journal.append(FIRST)
    real_pwrite = os.pwrite

    def fill_the_disk(fd: int, data: bytes, position: int) -> int:
        if position > len(frame(FIRST)):
            raise OSError(errno.ENOSPC, "no space left")
        return real_pwrite(fd, data[:5], position)

    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fill_the_disk if step == "pwrite" else fail)
        with pytest.raises(OSError, match=r"no space left|the disk is gone"):
            journal.append(SECOND)
    assert path.read_bytes() == frame(FIRST)
    journal.append(THIRD)
    assert _bodies(path) == [FIRST, THIRD]


def test_nothing_is_written_behind_an_end_that_could_not_be_cut_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        patched.setattr(os, "ftruncate", fail)
        with pytest.raises(OSError, match="the disk is gone"):
            journal.append(FIRST)
    with pytest.raises(OSError, match="could not be cut back"):
        journal.append(SECOND)


def test_a_record_without_a_body_is_none() -> None:
    assert read_record(frame(b""), 0) is None
    assert read_record(b"", 0) is None
