"""Ids for producers: each given once, over restarts, brokers and full disks."""

import errno
import os
from pathlib import Path

import pytest

from kwire.controller import znodes
from kwire.controller.local_store import LocalStore
from kwire.controller.producer_ids import BLOCK_SIZE, ProducerIds
from kwire.controller.store import StoredNode
from kwire.errors import ErrorCode, KwireError
from kwire.tasks import Later
from kwire.tests.controller.clusters import DawdlingStore, value_of


def _next(ids: ProducerIds) -> int:
    given = value_of(ids.next())
    assert isinstance(given, int)
    return given


def test_ids_begin_with_0_and_go_on_from_block_to_block(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    ids = ProducerIds(store, 1)
    assert [_next(ids) for _ in range(2 * BLOCK_SIZE + 1)] == list(range(2 * BLOCK_SIZE + 1))
    node = value_of(store.get("/latest_producer_id_block"))
    assert isinstance(node, StoredNode)
    assert znodes.last_of_producer_id_block(node.data) == 3 * BLOCK_SIZE - 1
    store.close()


def test_no_id_is_given_twice_over_a_restart(tmp_path: Path) -> None:
    for expected in (0, BLOCK_SIZE, 2 * BLOCK_SIZE):
        store = LocalStore(tmp_path)
        assert _next(ProducerIds(store, 1)) == expected
        store.close()


def test_ids_that_are_in_use_are_passed_over(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    ids = ProducerIds(store, 1)
    ids.stay_above(4)
    assert _next(ids) == 5
    ids.stay_above(4)
    assert _next(ids) == 6
    ids.stay_above(10)
    assert _next(ids) == 11
    ids.stay_above(9 * BLOCK_SIZE)
    assert _next(ids) == 9 * BLOCK_SIZE + 1
    assert _next(ProducerIds(store, 1)) == 10 * BLOCK_SIZE + 1
    store.close()


def test_brokers_that_ask_at_the_same_time_get_different_blocks(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for _ in range(2):
        slow = DawdlingStore(store)
        asked = ProducerIds(slow, 1).next()
        slow.answer_one()
        # The other broker takes the block that the first has just found to be free.
        taken = _next(ProducerIds(store, 2))
        slow.answer_all()
        assert value_of(asked) == taken + BLOCK_SIZE
    store.close()


def test_all_who_wait_for_one_block_are_served_from_it(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    slow = DawdlingStore(store)
    ids = ProducerIds(slow, 1)
    waiting: list[Later[int | KwireError]] = [ids.next() for _ in range(BLOCK_SIZE + 1)]
    slow.answer_all()
    assert [value_of(later) for later in waiting] == list(range(BLOCK_SIZE + 1))
    assert slow.multi_count == 2
    store.close()


def test_whoever_asks_while_nothing_can_be_written_is_told_and_the_next_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    store = LocalStore(tmp_path)
    ids = ProducerIds(store, 1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        refused = value_of(ids.next())
    assert isinstance(refused, KwireError)
    assert refused.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert _next(ids) == 0
    store.close()
    assert isinstance(value_of(ProducerIds(store, 1).next()), KwireError)
