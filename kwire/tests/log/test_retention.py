"""Which segments expire, and what stays."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from kwire.log.files import LogFile
from kwire.log.retention import delete_expired
from kwire.log.trash import Trash
from kwire.tests.builders import A_TIMESTAMP
from kwire.tests.log.logs import Directory, Pool, append, offsets

DAY_MS = 24 * 3600 * 1000


def days_of_data(path: Path, days: int, **settings: Any) -> Directory:
    """A segment of 900 bytes and one record for each day, and the clock at the last of them."""
    directory = Directory(path, segment_bytes=1000, **settings)
    for day in range(days):
        append(directory.log, size_bytes=900, timestamp=A_TIMESTAMP + day * DAY_MS)
    directory.clock.advance((days - 1) * DAY_MS)
    return directory


def expire(directory: Directory, high_watermark: int | None = None) -> list[int]:
    log, pool = directory.log, Pool()
    expired = delete_expired(
        log,
        high_watermark=log.next_offset if high_watermark is None else high_watermark,
        now_ms=directory.clock.now_ms(),
        trash=Trash(pool),
    )
    pool.run_later()
    return [segment.base_offset for segment in expired]


def test_segments_older_than_retention_ms_go(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 6, retention_ms=2 * DAY_MS)
    assert expire(directory) == [0, 1, 2]
    assert directory.log.log_start_offset == 3
    assert offsets(directory.log) == [3, 4, 5]
    assert expire(directory) == []
    assert offsets(directory.restart(clean=False)) == [3, 4, 5]
    assert not any(name.startswith("00000000000000000001.") for name in directory.names())


def test_the_active_segment_goes_too_when_all_of_it_is_old(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 3, retention_ms=DAY_MS)
    directory.clock.advance(10 * DAY_MS)
    assert expire(directory) == [0, 1, 2]
    assert offsets(directory.log) == []
    assert (directory.log.log_start_offset, directory.log.next_offset) == (3, 3)
    assert append(directory.restart()).base_offset == 3


def test_the_log_shrinks_to_retention_bytes_and_not_below(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 6, retention_ms=-1, retention_bytes=2500)
    assert expire(directory) == [0, 1, 2]
    assert directory.log.size_bytes == 2700


def test_nothing_above_the_high_watermark_goes(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 6, retention_ms=DAY_MS)
    assert expire(directory, high_watermark=2) == [0, 1]


def test_segments_below_the_start_of_the_log_go_whatever_the_policy(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 6, retention_ms=-1, cleanup_policy=frozenset({"compact"}))
    directory.log.delete_records_before(3)
    assert expire(directory) == [0, 1, 2]


@pytest.mark.parametrize("policy", [frozenset({"compact"}), frozenset[str]()])
def test_age_does_not_matter_without_the_delete_policy(
    tmp_path: Path, policy: frozenset[str]
) -> None:
    directory = days_of_data(tmp_path, 3, retention_ms=1, cleanup_policy=policy)
    directory.clock.advance(DAY_MS)
    assert expire(directory) == []


def test_a_segment_without_times_is_as_old_as_its_file(tmp_path: Path) -> None:
    directory = Directory(tmp_path, segment_bytes=1000, retention_ms=DAY_MS)
    append(directory.log, size_bytes=900, timestamp=-1)
    written_ms = directory.file("00000000000000000000.log").stat().st_mtime_ns // 1_000_000
    directory.clock.advance(written_ms - directory.clock.now_ms())
    assert expire(directory) == []
    directory.clock.advance(DAY_MS + 1)
    assert expire(directory) == [0]


def test_a_disk_too_full_for_a_new_segment_still_loses_the_closed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = days_of_data(tmp_path, 3, retention_ms=DAY_MS)
    directory.clock.advance(10 * DAY_MS)

    def no_room(file: LogFile) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(LogFile, "create", no_room)
        assert expire(directory) == [0, 1]
    assert expire(directory) == [2]
    assert directory.log.next_offset == 3


def test_an_offline_directory_is_left_alone(tmp_path: Path) -> None:
    directory = days_of_data(tmp_path, 6, retention_ms=DAY_MS)
    directory.log.files.give_up("test", OSError("broken"))
    assert expire(directory) == []
