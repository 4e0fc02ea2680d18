"""What a start clears away in a partition's directory, and what it leaves."""

import os
from pathlib import Path

from kwire.log.leftovers import finish_interrupted
from kwire.tests.builders import a_batch

ZERO, FIVE, NINE = "00000000000000000000", "00000000000000000005", "00000000000000000009"


def make(path: Path, *names: str) -> None:
    for name in names:
        (path / name).write_bytes(b"")


def test_what_was_given_up_is_removed_and_strange_files_stay(tmp_path: Path) -> None:
    make(tmp_path, f"{ZERO}.log", f"{ZERO}.index", f"{NINE}.snapshot", "partition.metadata")
    make(tmp_path, f"{ZERO}.log.deleted", f"{FIVE}.log.cleaned", f"{FIVE}.index.cleaned", "x.tmp")
    make(tmp_path, "notes.txt")
    found = finish_interrupted(str(tmp_path))
    assert found == {f"{ZERO}.log", f"{ZERO}.index", f"{NINE}.snapshot"}
    assert set(os.listdir(tmp_path)) == found | {"partition.metadata", "notes.txt"}


def test_indexes_without_a_log_are_removed(tmp_path: Path) -> None:
    make(tmp_path, f"{ZERO}.log", f"{FIVE}.index", f"{FIVE}.timeindex", f"{FIVE}.txnindex")
    assert finish_interrupted(str(tmp_path)) == {f"{ZERO}.log"}


def test_a_swap_that_counts_replaces_the_segments_that_begin_within_it(tmp_path: Path) -> None:
    make(tmp_path, f"{ZERO}.log", f"{ZERO}.index", f"{FIVE}.log", f"{FIVE}.txnindex", f"{NINE}.log")
    (tmp_path / f"{ZERO}.log.swap").write_bytes(a_batch(9))
    (tmp_path / f"{ZERO}.index.swap").write_bytes(b"new")
    found = finish_interrupted(str(tmp_path))
    assert found == {f"{ZERO}.log", f"{ZERO}.index", f"{NINE}.log"}
    assert set(os.listdir(tmp_path)) == found
    assert (tmp_path / f"{ZERO}.log").read_bytes() == a_batch(9)
    assert (tmp_path / f"{ZERO}.index").read_bytes() == b"new"


def test_a_swap_without_its_log_does_not_count(tmp_path: Path) -> None:
    make(tmp_path, f"{ZERO}.log", f"{ZERO}.index", f"{ZERO}.index.swap", f"{ZERO}.txnindex.swap")
    assert finish_interrupted(str(tmp_path)) == {f"{ZERO}.log", f"{ZERO}.index"}
