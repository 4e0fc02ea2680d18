"""The local store through crashes and full disks: always the old state or the new one."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kwire.controller.journal import DamagedMetadata, Journal, frame
from kwire.controller.local_store import JOURNAL, SNAPSHOT, LocalStore
from kwire.controller.store import (
    Create,
    Delete,
    Event,
    Op,
    Put,
    Result,
    StoredNode,
    StoreError,
    StoreFailed,
)
from kwire.tests.controller.clusters import value_of

MULTIS: list[list[Op]] = [
    [Create("/a", b"1"), Create("/a/b", b"2"), Create("/q")],
    [Put("/a", b"3"), Create("/q/n", sequential=True), Create("/e", ephemeral=True)],
    [Delete("/a/b"), Delete("/a"), Create("/a", b"again")],
]


def _multi(store: LocalStore, ops: list[Op]) -> list[Result]:
    outcome = value_of(store.multi(ops))
    assert not isinstance(outcome, StoreError)
    return list(outcome)


def _tree(store: LocalStore) -> Mapping[str, StoredNode]:
    nodes = value_of(store.tree("/"))
    assert not isinstance(nodes, StoreError)
    return nodes


def _without_ephemerals(nodes: Mapping[str, StoredNode]) -> dict[str, StoredNode]:
    return {path: node for path, node in nodes.items() if not node.stat.owner}


def _states(directory: Path, **options: int) -> list[dict[str, StoredNode]]:
    """Carry out all of `MULTIS`; the tree before, between and after them."""
    store = LocalStore(directory, **options)
    states = [_without_ephemerals(_tree(store))]
    for ops in MULTIS:
        _multi(store, ops)
        states.append(_without_ephemerals(_tree(store)))
    store.close()
    return states


def _reopened(directory: Path) -> dict[str, StoredNode]:
    store = LocalStore(directory)
    nodes = dict(_tree(store))
    store.close()
    return nodes


def test_a_journal_cut_at_any_byte_gives_a_state_that_was(tmp_path: Path) -> None:
    states = _states(tmp_path)
    whole = (tmp_path / JOURNAL).read_bytes()
    reached = []
    for size in range(len(whole) + 1):
        (tmp_path / JOURNAL).write_bytes(whole[:size])
        reached.append(states.index(_reopened(tmp_path)))
    assert reached == sorted(reached), "more bytes never give an older state"
    assert set(reached) == {0, 1, 2, 3}


def test_after_a_torn_record_the_store_goes_on_writing(tmp_path: Path) -> None:
    states = _states(tmp_path)
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes()[:-3])
    store = LocalStore(tmp_path)
    assert _tree(store) == states[2]
    _multi(store, [Create("/later")])
    store.close()
    assert "/later" in _reopened(tmp_path)


def test_a_snapshot_makes_the_journal_before_it_worthless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: Journal) -> None:
        raise OSError(errno.EIO, "the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "restart", crash)
        after = _states(tmp_path, snapshot_after_ops=7)[-1]
    assert (tmp_path / SNAPSHOT).exists()
    whole = (tmp_path / JOURNAL).read_bytes()
    # Whatever the file system made of the truncation that was under way.
    for size in range(len(whole) + 1):
        (tmp_path / JOURNAL).write_bytes(whole[:size])
        assert _reopened(tmp_path) == after, size


def test_a_journal_that_could_not_be_restarted_is_written_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Journal) -> None:
        raise OSError(errno.EIO, "not now")

    store = LocalStore(tmp_path, snapshot_after_ops=2)
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "restart", fail)
        _multi(store, [Create("/a"), Create("/b")])
        assert (tmp_path / SNAPSHOT).exists()
        _multi(store, [Put("/a", b"after the snapshot")])
    after = _tree(store)
    store.close()
    assert _reopened(tmp_path) == after


def test_a_half_written_snapshot_is_not_looked_at(tmp_path: Path) -> None:
    states = _states(tmp_path)
    (tmp_path / f"{SNAPSHOT}.tmp").write_bytes(b"half of it")
    assert _reopened(tmp_path) == states[-1]


def test_the_journal_starts_anew_after_a_snapshot_and_the_tree_stays(tmp_path: Path) -> None:
    store = LocalStore(tmp_path, snapshot_after_ops=50)
    _multi(store, [Create("/q")])
    for _ in range(200):
        _multi(store, [Create("/q/n-", b"\xff\x00", sequential=True)])
    after = _tree(store)
    store.close()
    assert (tmp_path / JOURNAL).stat().st_size < (tmp_path / SNAPSHOT).stat().st_size * 2
    assert _reopened(tmp_path) == after
    again = LocalStore(tmp_path)
    assert _multi(again, [Create("/q/n-", sequential=True)]) == ["/q/n-0000000200"]
    again.close()


def test_a_snapshot_that_cannot_be_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    store = LocalStore(tmp_path, snapshot_after_ops=2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", fail)
        _multi(store, [Create("/a"), Create("/b"), Create("/c"), Put("/a", b"1")])
    assert "snapshot not written" in caplog.text
    assert not list(tmp_path.glob("*.tmp"))
    _multi(store, [Put("/a", b"2")])
    after = _tree(store)
    store.close()
    assert _reopened(tmp_path) == after


@pytest.mark.parametrize("step", ["pwrite", "fdatasync"])
def test_a_multi_that_cannot_be_written_fails_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    seen: list[Event] = []
    store = LocalStore(tmp_path)
    _multi(store, [Create("/a", b"1")])
    before, size = _tree(store), (tmp_path / JOURNAL).stat().st_size
    value_of(store.get("/a", seen.append))
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        outcome = value_of(store.multi([Put("/a", b"2"), Create("/b")]))
    assert isinstance(outcome, StoreFailed)
    assert "no space left" in outcome.message
    assert _tree(store) == before
    assert seen == []
    assert (tmp_path / JOURNAL).stat().st_size == size
    _multi(store, [Create("/c")])
    after = _tree(store)
    store.close()
    assert _reopened(tmp_path) == after


def test_damage_before_the_last_record_keeps_the_store_closed(tmp_path: Path) -> None:
    _states(tmp_path)
    journal = tmp_path / JOURNAL
    data = bytearray(journal.read_bytes())
    data[12] ^= 1
    journal.write_bytes(data)
    with pytest.raises(DamagedMetadata, match=f"{JOURNAL} is damaged: no record at byte 0"):
        LocalStore(tmp_path)


def test_a_journal_of_garbage_keeps_the_store_of_a_claimed_directory_closed(
    tmp_path: Path,
) -> None:
    garbage = b"not a journal at all"
    (tmp_path / JOURNAL).write_bytes(garbage)
    (tmp_path / "meta.properties").write_text("version=0\n")
    with pytest.raises(DamagedMetadata, match="holds no transaction at all"):
        LocalStore(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == garbage


def test_a_damaged_snapshot_keeps_the_store_closed(tmp_path: Path) -> None:
    _states(tmp_path, snapshot_after_ops=1)
    snapshot = tmp_path / SNAPSHOT
    data = bytearray(snapshot.read_bytes())
    data[-1] ^= 1
    snapshot.write_bytes(data)
    with pytest.raises(DamagedMetadata, match=f"{SNAPSHOT} is damaged: .* at byte 0"):
        LocalStore(tmp_path)


def test_a_lost_snapshot_is_noticed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path, snapshot_after_ops=1)
    for number in range(5):
        _multi(store, [Create(f"/n{number}"), Put(f"/n{number}", b"x")])
    _multi(store, [Create("/last")])
    store.close()
    assert (tmp_path / JOURNAL).stat().st_size > 0
    (tmp_path / SNAPSHOT).unlink()
    with pytest.raises(DamagedMetadata, match="transaction 1 is missing before byte 0"):
        LocalStore(tmp_path)


def test_a_transaction_of_a_newer_kwire_is_not_skipped(tmp_path: Path) -> None:
    body = json.dumps({"zxid": 1, "ops": [["!", "/a"]]}, separators=(",", ":")).encode()
    (tmp_path / JOURNAL).write_bytes(frame(body))
    with pytest.raises(DamagedMetadata, match="at byte 0 cannot be carried out"):
        LocalStore(tmp_path)


def test_files_not_directories_are_left_in_the_directory(tmp_path: Path) -> None:
    _states(tmp_path, snapshot_after_ops=1)
    assert {path.name for path in tmp_path.iterdir()} == {JOURNAL, SNAPSHOT}
    assert all(path.is_file() for path in tmp_path.iterdir())
