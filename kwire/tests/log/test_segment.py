"""One file of batches and its indexes."""

import os
import struct
from pathlib import Path

import pytest

from kwire.codec.records.batch import parse_header, stamp
from kwire.log.files import OpenFiles
from kwire.log.segment import REMEMBERED_BATCHES, Segment
from kwire.tests.builders import A_TIMESTAMP, a_batch

BATCHES = 3 * REMEMBERED_BATCHES


def filled(path: Path, *, records: int = 2, interval_bytes: int = 1000) -> Segment:
    """Batches of 300 bytes from offset 50 on."""
    segment = Segment(str(path), 50, OpenFiles(limit=1), A_TIMESTAMP)
    segment.create()
    for number in range(BATCHES):
        batch = a_batch(records, size_bytes=300, timestamp=A_TIMESTAMP + number)
        offset = 50 + records * number
        stamp(batch, 0, offset, 0)
        segment.append(batch, parse_header(batch), offset, interval_bytes)
    return segment


@pytest.mark.parametrize("is_closed", [True, False])
def test_every_offset_is_found_in_its_batch(tmp_path: Path, is_closed: bool) -> None:
    segment = filled(tmp_path)
    if is_closed:
        segment.close_for_writing()
    for offset in range(50, 50 + 2 * BATCHES):
        assert segment.position_of(offset) == (offset - 50) // 2 * 300
    assert segment.position_of(50 + 2 * BATCHES) == segment.size_bytes == 300 * BATCHES
    segment.drop()


def test_an_offset_is_indexed_with_the_batch_that_ends_with_it(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    segment.close_for_writing()
    data = (tmp_path / "00000000000000000050.index").read_bytes()
    entries = list(struct.iter_unpack(">ii", data))
    assert entries[0] == (9, 1200)
    assert len(entries) == segment.entries
    for relative, position in entries:
        header = parse_header(segment.read(position, 61))
        assert header.last_offset == 50 + relative
    segment.drop()


def test_the_last_time_is_indexed_when_the_segment_is_closed(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    segment.close_for_writing()
    data = (tmp_path / "00000000000000000050.timeindex").read_bytes()
    newest = A_TIMESTAMP + BATCHES  # The second record of a batch is a millisecond younger.
    assert struct.unpack(">qi", data[-12:]) == (newest, 2 * BATCHES - 1)
    segment.drop()


def test_an_index_that_lies_is_not_used(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    segment.close_for_writing()
    segment.drop()
    path = tmp_path / "00000000000000000050.index"
    entries = list(struct.iter_unpack(">ii", path.read_bytes()))
    path.write_bytes(b"".join(struct.pack(">ii", o, p + 300) for o, p in entries))
    assert segment.position_of(150) == 100 // 2 * 300
    segment.drop()


def test_a_segment_learns_its_end_from_its_indexes(tmp_path: Path) -> None:
    whole = filled(tmp_path)
    whole.close_for_writing()
    whole.drop()
    again = Segment(str(tmp_path), 50, OpenFiles(limit=1), A_TIMESTAMP)
    again.size_bytes = whole.size_bytes
    assert again.find_end() == whole.size_bytes
    for name in ("next_offset", "max_timestamp", "max_timestamp_offset", "first_timestamp"):
        assert getattr(again, name) == getattr(whole, name)
    assert again.entries == whole.entries
    again.drop()


def test_a_cut_segment_forgets_what_lay_behind(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    segment.truncate_to(71)
    assert (segment.size_bytes, segment.next_offset) == (3000, 71)
    assert os.stat(segment.file.path).st_size == 3000
    assert segment.max_timestamp == A_TIMESTAMP + 10
    assert segment.position_of(69) == 2700
    assert segment.position_of(70) == 3000
    segment.drop()


def test_headers_are_walked_up_to_the_first_bytes_that_are_none(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    positions = [position for position, _ in segment.walk(600)]
    assert positions == [*range(600, 300 * BATCHES, 300)]
    os.truncate(segment.file.path, 920)
    assert [position for position, _ in segment.walk(600)] == [600]
    segment.drop()


def test_all_files_of_a_segment_get_a_further_suffix(tmp_path: Path) -> None:
    segment = filled(tmp_path)
    segment.close_for_writing()
    renamed = segment.rename(".deleted")
    assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(path) for path in renamed)
    assert all(path.endswith(".deleted") for path in renamed)
    assert segment.read(0, 61)[16] == 2
    segment.drop()
