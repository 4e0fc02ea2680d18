"""The sparse index from offsets to positions."""

import struct
from pathlib import Path

import pytest

from kwire.log.index_cache import IndexCache
from kwire.log.offset_index import OffsetIndex

BASE = 1000


def index_at(path: Path) -> OffsetIndex:
    return OffsetIndex(str(path / "index"), BASE, IndexCache())


def filled(path: Path, count: int = 5) -> OffsetIndex:
    index = index_at(path)
    index.start_empty(is_new=True)
    for number in range(1, count + 1):
        index.append(BASE + 10 * number, 100 * number)
    return index


def test_the_last_entry_at_or_below_an_offset_is_found(tmp_path: Path) -> None:
    index = filled(tmp_path)
    for again in (index, index_at(tmp_path)):
        index.save()
        assert again.lookup(BASE + 9) is None
        assert again.lookup(BASE + 10) == (BASE + 10, 100)
        assert again.lookup(BASE + 39) == (BASE + 30, 300)
        assert again.lookup(BASE + 999) == again.last() == (BASE + 50, 500)


def test_the_file_has_kafkas_bytes(tmp_path: Path) -> None:
    index = filled(tmp_path, 2)
    index.save()
    index.append(BASE + 30, 300)
    index.save()
    index.save()
    expected = struct.pack(">iiiiii", 10, 100, 20, 200, 30, 300)
    assert (tmp_path / "index").read_bytes() == expected


def test_entries_of_a_closed_index_leave_the_memory_and_come_back(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.freeze()
    index.unload()
    assert len(index) == 5
    index.append(BASE + 60, 600)
    index.save()
    assert index_at(tmp_path).last() == (BASE + 60, 600)


@pytest.mark.parametrize("is_saved", [True, False])
def test_entries_at_and_above_an_offset_can_be_cut_off(tmp_path: Path, is_saved: bool) -> None:
    index = filled(tmp_path)
    if is_saved:
        index.freeze()
    index.truncate_to(BASE + 30)
    assert index.last() == (BASE + 20, 200)
    index.append(BASE + 25, 250)
    index.save()
    assert (tmp_path / "index").read_bytes() == struct.pack(">iiiiii", 10, 100, 20, 200, 25, 250)


def test_a_look_at_the_file_tells_its_last_entry(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.save()
    assert index.peek(501) == (5, BASE + 50, 500)
    assert index.peek(500) is None


@pytest.mark.parametrize(
    "data", [b"123", bytes(16), struct.pack(">ii", -1, 100), struct.pack(">ii", 5, -100)]
)
def test_a_file_that_cannot_be_right_counts_for_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index").write_bytes(data)
    assert index_at(tmp_path).peek(1000) is None


def test_an_empty_file_is_the_index_of_a_short_segment(tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(b"")
    assert index_at(tmp_path).peek(1000) == (0, BASE, 0)


def test_a_distrusted_index_finds_nothing(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.freeze()
    index.distrust()
    assert index.lookup(BASE + 100) is None
