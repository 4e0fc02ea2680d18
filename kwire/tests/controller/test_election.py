"""Becoming controller: one wins, the epoch rises, and a lost answer is not a lost election."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kwire.controller import znodes
from kwire.controller.election import Mandate, campaign
from kwire.controller.local_store import LocalStore
from kwire.controller.store import (
    BadVersion,
    Create,
    Delete,
    MetadataStore,
    NodeExists,
    NoNode,
    Op,
    Put,
    Result,
    SessionLost,
    StoredNode,
    StoreError,
)
from kwire.tasks import Later
from kwire.tests.controller.clusters import DawdlingStore, value_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LocalStore]:
    opened = LocalStore(tmp_path)
    value_of(opened.multi(znodes.empty_cluster("c")))
    yield opened
    opened.close()


def _data(store: MetadataStore, path: str) -> bytes:
    node = value_of(store.get(path))
    assert isinstance(node, StoredNode)
    return node.data


def test_the_first_controller_has_epoch_1_and_the_next_2(store: LocalStore) -> None:
    assert value_of(campaign(store, 1, 0)) == Mandate(epoch=1, epoch_version=1)
    assert _data(store, "/controller_epoch") == b"1"
    assert b'"brokerid":1' in _data(store, "/controller")
    value_of(store.multi([Delete("/controller")]))
    assert value_of(campaign(store, 2, 0)) == Mandate(epoch=2, epoch_version=2)


def test_there_is_one_controller_at_a_time(store: LocalStore) -> None:
    # As if another session had it: the node is there, but not ours.
    value_of(store.multi([Create("/controller", b"{}")]))
    assert isinstance(value_of(campaign(store, 2, 0)), NodeExists)
    assert _data(store, "/controller_epoch") == b"0"


def test_of_two_candidates_that_read_the_same_epoch_one_wins(store: LocalStore) -> None:
    slow = DawdlingStore(store)
    outcome = campaign(slow, 2, 0)
    slow.answer_one()
    value_of(store.multi([Put("/controller_epoch", b"1", version=0)]))
    slow.answer_all()
    assert isinstance(value_of(outcome), BadVersion)
    assert value_of(store.exists("/controller")) is None


def test_without_a_cluster_there_is_nothing_to_win(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    store = LocalStore(tmp_path / "other")
    assert isinstance(value_of(campaign(store, 1, 0)), NoNode)
    store.close()


class _ForgetfulStore(DawdlingStore):
    """Carries a multi out, and loses the answer."""

    def multi(self, ops: Sequence[Op]) -> Later[Sequence[Result] | StoreError]:
        def forget(outcome: Sequence[Result] | StoreError) -> Sequence[Result] | StoreError:
            return outcome if isinstance(outcome, StoreError) else SessionLost("no answer")

        return super().multi(ops).map(forget)


def test_a_candidate_whose_answer_was_lost_looks_whether_it_won(store: LocalStore) -> None:
    forgetful = _ForgetfulStore(store)
    outcome = campaign(forgetful, 1, 0)
    forgetful.answer_all()
    assert value_of(outcome) == Mandate(epoch=1, epoch_version=1)


def test_a_mandate_is_shown_by_checking_the_epochs_version(store: LocalStore) -> None:
    mandate = value_of(campaign(store, 1, 0))
    assert isinstance(mandate, Mandate)
    assert value_of(store.multi([mandate.check()])) == [None]
    value_of(store.multi([Put("/controller_epoch", b"2")]))
    assert isinstance(value_of(store.multi([mandate.check()])), BadVersion)
