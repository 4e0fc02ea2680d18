"""The sparse index from timestamps to offsets."""

import struct
from pathlib import Path

import pytest

from kwire.log.index_cache import IndexCache
from kwire.log.time_index import TimeIndex

BASE = 1000


def index_at(path: Path) -> TimeIndex:
    return TimeIndex(str(path / "timeindex"), BASE, IndexCache())


def filled(path: Path) -> TimeIndex:
    index = index_at(path)
    index.start_empty(is_new=True)
    for timestamp, offset in ((50, 1003), (70, 1009), (70, 1012), (60, 1015), (90, 1020)):
        index.maybe_append(timestamp, offset)
    return index


def test_only_a_larger_timestamp_makes_an_entry(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.save()
    expected = struct.pack(">qiqiqi", 50, 3, 70, 9, 90, 20)
    assert (tmp_path / "timeindex").read_bytes() == expected


def test_a_record_without_a_time_makes_no_entry(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    index.start_empty(is_new=True)
    index.maybe_append(-1, BASE)
    assert len(index) == 0


def test_the_last_entry_before_a_time_is_found(tmp_path: Path) -> None:
    index = filled(tmp_path)
    for again in (index, index_at(tmp_path)):
        index.save()
        assert again.lookup(50) is None
        assert again.lookup(51) == (50, 1003)
        assert again.lookup(90) == (70, 1009)
        assert again.lookup(91) == again.last() == (90, 1020)


@pytest.mark.parametrize("is_saved", [True, False])
def test_entries_at_and_above_an_offset_can_be_cut_off(tmp_path: Path, is_saved: bool) -> None:
    index = filled(tmp_path)
    if is_saved:
        index.freeze()
    index.truncate_to(1009)
    index.maybe_append(55, 1010)
    index.freeze()
    assert (tmp_path / "timeindex").read_bytes() == struct.pack(">qiqi", 50, 3, 55, 10)
    assert index.last() == (55, 1010)


def test_a_look_at_the_file_tells_its_last_entry(tmp_path: Path) -> None:
    missing = index_at(tmp_path).peek()
    filled(tmp_path).save()
    assert (missing, index_at(tmp_path).peek()) == (None, (90, 1020))
    (tmp_path / "timeindex").write_bytes(b"")
    assert index_at(tmp_path).peek() == (-1, BASE)


@pytest.mark.parametrize("data", [b"123", struct.pack(">qi", -5, 1), struct.pack(">qi", 5, -1)])
def test_a_file_that_cannot_be_right_counts_for_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "timeindex").write_bytes(data)
    assert index_at(tmp_path).peek() is None


def test_a_distrusted_index_finds_nothing(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.freeze()
    index.distrust()
    assert index.lookup(1000) is None
