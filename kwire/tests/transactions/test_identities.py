"""Ids and epochs of producers that start, go on, and come twice."""

import pytest

from kwire.errors import ErrorCode, KwireError
from kwire.transactions.commands import InitProducer, NeedsProducerId
from kwire.transactions.identities import Identities, check
from kwire.transactions.state import (
    LAST_EPOCH,
    ProducerIdentity,
    Transaction,
    TransactionState,
)

OLD_ID, ID, NEW_ID = 8, 9, 20
FENCED = ErrorCode.PRODUCER_FENCED


def _known(epoch: int) -> Transaction:
    return Transaction(
        *("tx", ID, epoch, 1000, TransactionState.EMPTY, frozenset(), 0),
        previous_producer_id=OLD_ID,
    )


def _start(identities: Identities, epoch: int, *shown: int, new_id: int | None = NEW_ID) -> object:
    expected = ProducerIdentity(*shown) if shown else None
    try:
        return identities.start(_known(epoch), InitProducer("tx", 1000, expected, new_id))
    except KwireError as refusal:
        return refusal.code


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        ((), ErrorCode.NONE),
        ((ID, 0), ErrorCode.NONE),
        ((OLD_ID, LAST_EPOCH - 1), ErrorCode.NONE),
        ((OLD_ID, LAST_EPOCH), ErrorCode.NONE),
        ((OLD_ID, LAST_EPOCH - 2), FENCED),
        ((NEW_ID, 0), FENCED),
    ],
)
def test_only_the_known_producer_may_go_on(shown: tuple[int, ...], code: ErrorCode) -> None:
    try:
        check(_known(3), ProducerIdentity(*shown) if shown else None)
        found = ErrorCode.NONE
    except KwireError as refusal:
        found = refusal.code
    assert found == code


def test_a_request_that_comes_twice_is_known_until_somebody_else_starts() -> None:
    identities = Identities()
    assert _start(identities, 3, ID, 3) == (ID, 4)
    assert _start(identities, 4, ID, 3) == (ID, 4)
    assert _start(identities, 4) == (ID, 5)
    assert _start(identities, 5, ID, 3) == FENCED
    assert _start(identities, 5, ID, 4) == FENCED


def test_the_epoch_before_the_end_of_a_transaction_is_known() -> None:
    identities = Identities()
    identities.bump(_known(3))
    assert _start(identities, 4, ID, 3) == (ID, 4)
    identities.forget("tx")
    assert _start(identities, 4, ID, 3) == FENCED


def test_a_new_id_must_be_brought_along() -> None:
    command = InitProducer("tx", 1000)
    with pytest.raises(NeedsProducerId):
        Identities().start(_known(LAST_EPOCH - 1), command)
    assert _start(Identities(), LAST_EPOCH - 1) == (NEW_ID, 0)
