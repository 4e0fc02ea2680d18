"""A compaction that is cut short at any step leaves a log that says the same."""

import os
from pathlib import Path

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.swap import discard, install
from kwire.log.trash import Trash
from kwire.tests.log.logs import Pool, read_records
from kwire.tests.log.test_cleaner import clean, compacted, fill, latest
from kwire.tests.log.test_compaction import prepared_round


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("steps", range(26))
def test_a_swap_cut_short_is_finished_or_undone_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    directory = compacted(tmp_path)
    expected = fill(directory.log, 7, batches=30)
    end = directory.log.next_offset
    real_rename, done = os.rename, [0]

    def rename(source: str, target: str) -> None:
        if done[0] == steps:
            raise Killed
        done[0] += 1
        real_rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        with pytest.raises(Killed):
            clean(directory)
    for _ in range(2):
        log = directory.restart(clean=False)
        assert latest(read_records(log)) == expected
        assert log.next_offset == end
        leftovers = [n for n in directory.names() if n.endswith((".cleaned", ".swap", ".deleted"))]
        assert leftovers == []
    clean(directory)
    assert len(read_records(directory.log)) == len(expected)


def test_the_old_files_go_after_their_delay(tmp_path: Path) -> None:
    directory = compacted(tmp_path, file_delete_delay_ms=5000)
    fill(directory.log, 1)
    pool = Pool()
    assert install(directory.log, prepared_round(directory), Trash(pool))
    assert {delay for delay, _ in pool.later} == {5.0}
    assert any(name.endswith(".deleted") for name in directory.names())
    pool.run_later()
    assert not any(name.endswith(".deleted") for name in directory.names())


def test_a_round_is_given_up_when_retention_was_quicker(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    prepared = prepared_round(directory)
    directory.log.remove_segments(directory.log.segments[:1])
    assert not install(directory.log, prepared, Trash(Pool()))
    assert not any(name.endswith(".cleaned") for name in directory.names())


def test_new_segments_that_are_not_wanted_leave_no_files(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    before = directory.names()
    prepared = prepared_round(directory)
    assert any(name.endswith(".cleaned") for name in directory.names())
    discard(prepared)
    assert directory.names() == before


def test_a_swap_that_fails_takes_the_directory_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = compacted(tmp_path)
    expected = fill(directory.log, 1)
    prepared = prepared_round(directory)

    def fail(source: str, target: str) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", fail)
        with pytest.raises(KafkaStorageError, match="cannot swap segments"):
            install(directory.log, prepared, Trash(Pool()))
    assert directory.store.fault is not None
    assert latest(read_records(directory.restart())) == expected
