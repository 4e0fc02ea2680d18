"""Finding the right segment."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.files import LogFile, OpenFiles
from kwire.log.segment import Segment
from kwire.log.segments import Segments
from kwire.tests.log.logs import Directory, append


def made(path: Path, *bases: int) -> Segments:
    """Segments that each reach up to the next one; the last has ten offsets."""
    segments = Segments(str(path), OpenFiles(limit=1))
    for base in bases:
        segments.add(base, now_ms=0)
    for segment, end in zip(segments.listed, [*bases[1:], bases[-1] + 10], strict=True):
        segment.next_offset = end
    return segments


def bases(segments: Sequence[Segment]) -> list[int]:
    return [segment.base_offset for segment in segments]


@pytest.mark.parametrize(
    ("offset", "expected"), [(0, [5, 20, 30]), (5, [5, 20, 30]), (19, [5, 20, 30]), (20, [20, 30])]
)
def test_an_offset_belongs_to_the_last_segment_that_begins_at_or_before_it(
    tmp_path: Path, offset: int, expected: list[int]
) -> None:
    segments = made(tmp_path, 5, 20, 30)
    assert bases(segments.starting_at(offset)) == expected
    assert bases(segments.starting_at(39)) == [30]


def test_segments_that_reach_beyond_an_offset_are_told(tmp_path: Path) -> None:
    segments = made(tmp_path, 0, 10, 20)
    assert [bases(segments.beyond(offset)) for offset in (0, 9, 10, 29, 30)] == [
        [0, 10, 20],
        [0, 10, 20],
        [10, 20],
        [20],
        [],
    ]


def test_new_segments_take_the_place_of_others_in_order(tmp_path: Path) -> None:
    segments = made(tmp_path, 0, 10, 20, 30)
    joined = Segment(str(tmp_path), 0, OpenFiles(limit=1), 0, suffix=".cleaned")
    segments.replace(segments.listed[:2], [joined])
    assert segments.listed[0] is joined
    assert bases(segments.listed) == [0, 20, 30]
    assert segments.active.base_offset == 30


def test_removed_segments_take_their_files_with_them(tmp_path: Path) -> None:
    segments = made(tmp_path, 0, 10, 20)
    segments.remove(segments.listed[1:])
    assert os.listdir(tmp_path) == ["00000000000000000000.log"]
    assert segments.active.base_offset == 0


def test_a_segment_that_cannot_be_made_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segments = made(tmp_path, 0)

    def no_room(file: LogFile) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LogFile, "create", no_room)
    with pytest.raises(KafkaStorageError):
        segments.add(10, now_ms=0)
    assert bases(segments.listed) == [0]


def test_a_read_passes_over_segments_that_end_in_a_gap(tmp_path: Path) -> None:
    log = Directory(tmp_path, segment_bytes=1000).log
    for _ in range(4):
        append(log, size_bytes=900)
    log.remove_segments(log.segments[1:2])
    piece = log.read(1, 5000, end_offset=4)
    assert piece is not None
    assert int.from_bytes(bytes(piece)[:8], "big") == 2
