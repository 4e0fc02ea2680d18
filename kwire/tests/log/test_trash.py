"""Files that go a little later."""

from pathlib import Path

from kwire.log.trash import Trash
from kwire.tests.log.logs import Pool


def test_files_go_when_their_delay_is_over_and_missing_ones_are_no_matter(tmp_path: Path) -> None:
    pool = Pool()
    (tmp_path / "a").write_bytes(b"")
    Trash(pool).take([str(tmp_path / "a"), str(tmp_path / "gone")], delay_ms=60_000)
    assert [delay for delay, _ in pool.later] == [60.0]
    assert (tmp_path / "a").exists()
    pool.run_later()
    assert not (tmp_path / "a").exists()


def test_nothing_to_remove_needs_no_timer() -> None:
    pool = Pool()
    Trash(pool).take([], delay_ms=1)
    assert pool.later == []


def test_a_file_that_cannot_be_removed_is_only_logged(tmp_path: Path) -> None:
    pool = Pool()
    (tmp_path / "directory").mkdir()
    Trash(pool).take([str(tmp_path / "directory")], delay_ms=1)
    pool.run_later()
    assert (tmp_path / "directory").exists()
