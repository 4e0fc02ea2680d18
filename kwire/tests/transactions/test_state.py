"""The steps of a transaction as values, and how they are stored."""

import pytest

from kwire.codec.primitives import MalformedMessage
from kwire.transactions.state import (
    LAST_EPOCH,
    VERSION_1,
    VERSION_2,
    ProducerIdentity,
    Transaction,
    TransactionState,
    by_topic,
    from_stored,
    is_exhausted,
    to_stored,
)
from kwire.types import TopicPartition

PARTITIONS = frozenset({TopicPartition("b", 1), TopicPartition("a", 2), TopicPartition("b", 0)})
OPEN = Transaction("tx", 9, 2, 1000, TransactionState.ONGOING, PARTITIONS, 50, 40)


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (TransactionState.EMPTY, "Empty"),
        (TransactionState.PREPARE_COMMIT, "PrepareCommit"),
        (TransactionState.COMPLETE_ABORT, "CompleteAbort"),
        (TransactionState.PREPARE_EPOCH_FENCE, "PrepareEpochFence"),
    ],
)
def test_states_have_the_names_that_administrators_know(
    state: TransactionState, title: str
) -> None:
    assert state.title == title


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize(
    ("version", "epoch", "next_producer_id", "ending", "ended"),
    [
        (VERSION_1, 2, -1, (9, 2), (9, 2)),
        (VERSION_2, 2, -1, (9, 3), (9, 3)),
        (VERSION_2, LAST_EPOCH - 1, 20, (9, LAST_EPOCH), (20, 0)),
        (VERSION_2, LAST_EPOCH, -1, (9, LAST_EPOCH), (9, LAST_EPOCH)),
    ],
)
def test_a_transaction_ends_in_two_steps(
    is_commit: bool,
    version: int,
    epoch: int,
    next_producer_id: int,
    ending: tuple[int, int],
    ended: tuple[int, int],
) -> None:
    first = OPEN._replace(epoch=epoch).ending(
        is_commit=is_commit, client_version=version, next_producer_id=next_producer_id, now_ms=60
    )
    assert (first.identity, first.is_commit, first.started_ms) == (ending, is_commit, 40)
    assert first.partitions == PARTITIONS
    second = first.ended(70)
    assert (second.identity, second.next_producer_id) == (ended, -1)
    assert (second.previous_producer_id, second.updated_ms) == (9, 70)
    assert second.partitions == frozenset()


def test_a_new_producer_starts_with_nothing_open() -> None:
    started = OPEN.initialized(ProducerIdentity(20, 0), 500, 60)
    assert started == Transaction(
        "tx", 20, 0, 500, TransactionState.EMPTY, frozenset(), 60, previous_producer_id=9
    )


@pytest.mark.parametrize(
    ("epoch", "expected"), [(0, False), (LAST_EPOCH - 2, False), (LAST_EPOCH - 1, True)]
)
def test_the_last_epoch_is_not_for_clients(epoch: int, expected: bool) -> None:
    assert is_exhausted(epoch) is expected


@pytest.mark.parametrize("state", list(TransactionState))
def test_what_is_stored_is_read_again(state: TransactionState) -> None:
    partitions = frozenset() if state is TransactionState.EMPTY else PARTITIONS
    stored = OPEN._replace(
        state=state, partitions=partitions, next_producer_id=11, client_version=VERSION_2
    )
    assert from_stored("tx", to_stored(stored)) == stored


def test_a_state_of_the_future_is_not_read() -> None:
    stored = to_stored(OPEN)
    stored.transaction_status = 8
    with pytest.raises(MalformedMessage, match="tx is in a state 8"):
        from_stored("tx", stored)


def test_only_a_transaction_that_has_not_begun_is_stored_without_partitions() -> None:
    assert to_stored(OPEN._replace(partitions=frozenset())).transaction_partitions == []
    empty = OPEN._replace(state=TransactionState.EMPTY, partitions=frozenset())
    assert to_stored(empty).transaction_partitions is None


def test_partitions_are_grouped_in_order() -> None:
    assert by_topic(PARTITIONS) == {"a": [2], "b": [0, 1]}
