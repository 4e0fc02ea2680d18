"""Every state of a transaction, and what becomes of it when its producer wants to end it."""

import pytest

from kwire.errors import ErrorCode, KwireError
from kwire.transactions.commands import EndTransaction
from kwire.transactions.ending import Outcome, outcome
from kwire.transactions.state import (
    LAST_EPOCH,
    VERSION_1,
    VERSION_2,
    ProducerIdentity,
    Transaction,
    TransactionState,
)

PRODUCER = 10
OLD_PRODUCER = 9
EPOCH = 5

END = Outcome.END
OVER = Outcome.OVER
WAIT = ErrorCode.CONCURRENT_TRANSACTIONS
WRONG = ErrorCode.INVALID_TXN_STATE
FENCED = ErrorCode.PRODUCER_FENCED
STRANGER = ErrorCode.INVALID_PRODUCER_ID_MAPPING

EMPTY = TransactionState.EMPTY
ONGOING = TransactionState.ONGOING
PREPARE_COMMIT = TransactionState.PREPARE_COMMIT
PREPARE_ABORT = TransactionState.PREPARE_ABORT
COMPLETE_COMMIT = TransactionState.COMPLETE_COMMIT
COMPLETE_ABORT = TransactionState.COMPLETE_ABORT


def _known(state: TransactionState, epoch: int = EPOCH) -> Transaction:
    return Transaction(
        "tx", PRODUCER, epoch, 1000, state, frozenset(), 0, previous_producer_id=OLD_PRODUCER
    )


def _try(known: Transaction, command: EndTransaction) -> Outcome | ErrorCode:
    try:
        return outcome(known, command)
    except KwireError as refusal:
        return refusal.code


@pytest.mark.parametrize(
    ("state", "commit", "abort"),
    [
        (EMPTY, WRONG, WRONG),
        (ONGOING, END, END),
        (PREPARE_COMMIT, WAIT, WAIT),
        (PREPARE_ABORT, WAIT, WAIT),
        (COMPLETE_COMMIT, OVER, WRONG),
        (COMPLETE_ABORT, WRONG, OVER),
    ],
)
def test_version_1_ends_what_is_open_and_repeats_what_is_over(
    state: TransactionState, commit: Outcome | ErrorCode, abort: Outcome | ErrorCode
) -> None:
    producer = ProducerIdentity(PRODUCER, EPOCH)
    for is_commit, expected in ((True, commit), (False, abort)):
        assert _try(_known(state), EndTransaction("tx", producer, is_commit)) == expected


@pytest.mark.parametrize("state", [EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT])
@pytest.mark.parametrize("version", [VERSION_1, VERSION_2])
@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize(
    ("producer_id", "epoch", "code"),
    [
        (PRODUCER + 1, EPOCH, STRANGER),
        (PRODUCER, EPOCH + 1, FENCED),
        (PRODUCER, EPOCH - 2, FENCED),
    ],
)
def test_other_producers_end_nothing(
    state: TransactionState,
    version: int,
    is_commit: bool,
    producer_id: int,
    epoch: int,
    code: ErrorCode,
) -> None:
    producer = ProducerIdentity(producer_id, epoch)
    command = EndTransaction("tx", producer, is_commit, version)
    assert _try(_known(state), command) == code


@pytest.mark.parametrize("state", [EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT])
def test_version_1_knows_no_epoch_before(state: TransactionState) -> None:
    command = EndTransaction("tx", ProducerIdentity(PRODUCER, EPOCH - 1), is_commit=True)
    assert _try(_known(state), command) == FENCED


@pytest.mark.parametrize(
    ("state", "commit", "commit_again", "abort", "abort_again"),
    [
        (EMPTY, WRONG, FENCED, END, FENCED),
        (ONGOING, END, FENCED, END, FENCED),
        (PREPARE_COMMIT, WAIT, WAIT, WAIT, WAIT),
        (PREPARE_ABORT, WAIT, WAIT, WAIT, WAIT),
        (COMPLETE_COMMIT, WRONG, OVER, END, WRONG),
        (COMPLETE_ABORT, WRONG, WRONG, END, OVER),
    ],
)
def test_version_2_tells_the_next_transaction_from_the_last(
    state: TransactionState,
    commit: Outcome | ErrorCode,
    commit_again: Outcome | ErrorCode,
    abort: Outcome | ErrorCode,
    abort_again: Outcome | ErrorCode,
) -> None:
    rows = [
        (EPOCH, True, commit),
        (EPOCH - 1, True, commit_again),
        (EPOCH, False, abort),
        (EPOCH - 1, False, abort_again),
    ]
    for epoch, is_commit, expected in rows:
        producer = ProducerIdentity(PRODUCER, epoch)
        command = EndTransaction("tx", producer, is_commit, VERSION_2)
        assert _try(_known(state), command) == expected, (epoch, is_commit)


@pytest.mark.parametrize(
    ("state", "epoch", "is_commit", "expected"),
    [
        (COMPLETE_COMMIT, LAST_EPOCH - 1, True, OVER),
        (COMPLETE_COMMIT, LAST_EPOCH - 1, False, WRONG),
        (COMPLETE_ABORT, LAST_EPOCH - 1, False, OVER),
        (COMPLETE_COMMIT, LAST_EPOCH - 2, True, STRANGER),
        (ONGOING, LAST_EPOCH - 1, True, FENCED),
    ],
)
def test_version_2_knows_the_producer_whose_epochs_were_used_up(
    state: TransactionState, epoch: int, is_commit: bool, expected: Outcome | ErrorCode
) -> None:
    producer = ProducerIdentity(OLD_PRODUCER, epoch)
    command = EndTransaction("tx", producer, is_commit, VERSION_2)
    assert _try(_known(state, epoch=0), command) == expected


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
@pytest.mark.parametrize(("version", "expected"), [(VERSION_1, STRANGER), (VERSION_2, WAIT)])
def test_version_2_has_everybody_wait_while_a_transaction_is_ending(
    state: TransactionState, version: int, expected: ErrorCode
) -> None:
    command = EndTransaction("tx", ProducerIdentity(PRODUCER + 1, 0), True, version)
    assert _try(_known(state), command) == expected
