"""Where leader epochs begin and end."""

import errno
import os
from pathlib import Path

import pytest

from kwire.log.leader_epochs import LeaderEpochs


def epochs(tmp_path: Path, *entries: tuple[int, int]) -> LeaderEpochs:
    made = LeaderEpochs(str(tmp_path / "leader-epoch-checkpoint"))
    for epoch, start in entries:
        made.assign(epoch, start)
    return made


def test_an_epoch_is_written_down_where_it_begins(tmp_path: Path) -> None:
    made = epochs(tmp_path, (0, 0), (3, 10), (3, 15), (2, 20))
    assert made.entries == [(0, 0), (3, 10)]
    assert made.latest == 3
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n3 10\n"
    loaded = epochs(tmp_path)
    assert loaded.load()
    assert loaded.entries == made.entries


def test_an_epoch_without_batches_makes_way_for_the_next(tmp_path: Path) -> None:
    assert epochs(tmp_path, (0, 0), (1, 10), (2, 10)).entries == [(0, 0), (2, 10)]


def test_an_epoch_ends_where_the_next_begins(tmp_path: Path) -> None:
    made = epochs(tmp_path, (2, 0), (4, 10), (7, 20))
    answers = {epoch: made.end_offset_for(epoch, log_end=30) for epoch in range(-1, 9)}
    assert answers == {
        -1: (-1, -1),
        0: (0, 0),
        1: (1, 0),
        2: (2, 10),
        3: (2, 10),
        4: (4, 20),
        5: (4, 20),
        6: (4, 20),
        7: (7, 30),
        8: (-1, -1),
    }


def test_the_epoch_of_an_offset_is_the_last_that_began_before_it(tmp_path: Path) -> None:
    made = epochs(tmp_path, (2, 5), (4, 10))
    assert [made.epoch_at(offset) for offset in (4, 5, 9, 10, 99)] == [-1, 2, 2, 4, 4]


def test_epochs_are_cut_with_the_log_at_both_ends(tmp_path: Path) -> None:
    made = epochs(tmp_path, (0, 0), (1, 10), (2, 20), (3, 30))
    made.truncate_to(30)
    made.truncate_before(15)
    assert made.entries == [(1, 15), (2, 20)]
    made.truncate_before(20)
    assert made.entries == [(2, 20)]
    loaded = epochs(tmp_path)
    assert loaded.load()
    assert loaded.entries == [(2, 20)]


def test_an_epoch_that_cannot_be_written_did_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = epochs(tmp_path, (0, 0))

    def fail(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        with pytest.raises(OSError, match="No space"):
            made.assign(1, 10)
    assert (made.entries, made.latest) == ([(0, 0)], 0)
    # Better no file than one that knows less than the log.
    assert not (tmp_path / "leader-epoch-checkpoint").exists()


@pytest.mark.parametrize(
    "text", ["", "0\n2\n0 0\n", "1\n1\n0 0\n", "0\n1\nx y\n", "0\n2\n3 0\n1 5\n", "0\n1\n0 0 0\n"]
)
def test_a_file_that_cannot_be_right_is_not_believed(tmp_path: Path, text: str) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text(text)
    assert not epochs(tmp_path).load()
