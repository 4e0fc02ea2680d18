"""New segments made of old ones: what a thread prepares."""

from pathlib import Path
from typing import Any

import pytest

from kwire.log.cleaner import measure, plan
from kwire.log.compaction import CompactionCancelled, Prepared, group_by_size, prepare
from kwire.log.files import OpenFiles
from kwire.log.segment import Segment
from kwire.tests.log.logs import Directory
from kwire.tests.log.test_cleaner import compacted, fill, put


def prepared_round(directory: Directory, **changes: Any) -> Prepared:
    log = directory.log
    dirt = measure(
        log,
        cleaned_to=None,
        last_stable_offset=log.next_offset,
        now_ms=directory.clock.now_ms(),
    )
    job = plan(dirt, directory.clock.now_ms(), key_map_bytes=1024 * 1024)
    for name, value in changes.items():
        setattr(job, name, value)
    return prepare(job)


def a_segment(base_offset: int, next_offset: int, size_bytes: int) -> Segment:
    segment = Segment("nowhere", base_offset, OpenFiles(limit=1), 0)
    segment.next_offset, segment.size_bytes = next_offset, size_bytes
    return segment


def bases(groups: list[tuple[Segment, ...]]) -> list[list[int]]:
    return [[segment.base_offset for segment in group] for group in groups]


def test_neighbours_are_grouped_as_long_as_they_fit_into_a_segment() -> None:
    sizes = [400, 500, 200, 900, 50]
    segments = [a_segment(index, index + 1, size) for index, size in enumerate(sizes)]
    assert bases(group_by_size(segments, 1000)) == [[0, 1], [2], [3, 4]]


def test_neighbours_too_far_apart_for_an_index_are_not_grouped() -> None:
    far = 2**31 - 1
    near = [a_segment(0, 5, 10), a_segment(5, far + 1, 10)]
    assert bases(group_by_size(near, 1000)) == [[0, 5]]
    apart = [a_segment(0, 5, 10), a_segment(5, far + 2, 10)]
    assert bases(group_by_size(apart, 1000)) == [[0], [5]]


def test_the_new_segment_is_as_old_as_the_last_it_replaces(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    replacement = prepared_round(directory).replacements[0]
    old = Path(replacement.old[-1].file.path).stat().st_mtime_ns
    assert Path(replacement.new.file.path).stat().st_mtime_ns == old


def test_a_round_says_how_much_it_saved(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    put(directory.log, *[("a", str(number)) for number in range(50)])
    directory.log.roll()
    prepared = prepared_round(directory)
    assert prepared.cleaned_to == 50
    assert prepared.bytes_after < prepared.bytes_before / 5


def test_a_full_key_map_ends_the_round_where_it_had_come_to(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    for number in range(40):
        put(directory.log, (f"key-{number}", "x"))
    directory.log.roll()
    assert prepared_round(directory, key_map_bytes=10 * 224).cleaned_to == 10


def test_a_cancelled_round_leaves_nothing_behind(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    before = directory.names()
    with pytest.raises(CompactionCancelled):
        prepared_round(directory, is_cancelled=True)
    assert directory.names() == before


def test_every_piece_of_work_is_told_to_the_pace(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    told: list[int] = []
    prepared = prepared_round(directory, pace=told.append)
    assert sum(told) == 2 * prepared.bytes_before
