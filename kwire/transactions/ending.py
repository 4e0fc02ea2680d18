"""What becomes of a transaction that its producer wants to end.

With version 1 a producer keeps its epoch, so that a repeated request looks like the first one. With
version 2 (KIP-890) each end gives it a new epoch: the one before is a request sent again, and the
current one belongs to the next transaction, which may be aborted before it has begun.
"""

from enum import Enum, auto

from kwire.errors import (
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    InvalidTxnState,
    ProducerFenced,
)
from kwire.transactions.commands import EndTransaction
from kwire.transactions.state import (
    ENDING,
    LAST_EPOCH,
    VERSION_2,
    Transaction,
    TransactionState,
)


class Outcome(Enum):
    END = auto()
    """It ends now."""
    OVER = auto()
    """It has ended like this before."""


_COMMIT = True
_ABORT = False
_SENT_AGAIN = True
_FIRST_TIME = False

# Whatever is not listed does not fit the state of the transaction.
_VERSION_1 = {
    (TransactionState.ONGOING, _COMMIT): Outcome.END,
    (TransactionState.ONGOING, _ABORT): Outcome.END,
    (TransactionState.COMPLETE_COMMIT, _COMMIT): Outcome.OVER,
    (TransactionState.COMPLETE_ABORT, _ABORT): Outcome.OVER,
}
_VERSION_2 = {
    (TransactionState.ONGOING, _COMMIT, _FIRST_TIME): Outcome.END,
    (TransactionState.ONGOING, _ABORT, _FIRST_TIME): Outcome.END,
    (TransactionState.EMPTY, _ABORT, _FIRST_TIME): Outcome.END,
    (TransactionState.COMPLETE_COMMIT, _ABORT, _FIRST_TIME): Outcome.END,
    (TransactionState.COMPLETE_ABORT, _ABORT, _FIRST_TIME): Outcome.END,
    (TransactionState.COMPLETE_COMMIT, _COMMIT, _SENT_AGAIN): Outcome.OVER,
    (TransactionState.COMPLETE_ABORT, _ABORT, _SENT_AGAIN): Outcome.OVER,
}


def outcome(known: Transaction, command: EndTransaction) -> Outcome:
    """Whether the transaction ends now or has ended; raises if the producer may not end it."""
    if command.client_version < VERSION_2:
        found = _outcome_of_version_1(known, command)
    else:
        found = _outcome_of_version_2(known, command)
    if found is None:
        end = "commit" if command.is_commit else "abort"
        raise InvalidTxnState(f"a transaction in state {known.state.title} cannot {end}")
    return found


def _outcome_of_version_1(known: Transaction, command: EndTransaction) -> Outcome | None:
    if command.producer.producer_id != known.producer_id:
        raise InvalidProducerIdMapping()
    if command.producer.epoch != known.epoch:
        raise ProducerFenced()
    if known.state in ENDING:
        raise ConcurrentTransactions()
    return _VERSION_1.get((known.state, command.is_commit))


def _outcome_of_version_2(known: Transaction, command: EndTransaction) -> Outcome | None:
    if known.state in ENDING:
        # Before all else: the producer may use an id that counts only when the end is complete.
        raise ConcurrentTransactions()
    used_up = _used_up_its_epochs(known, command)
    if command.producer.producer_id != known.producer_id and not used_up:
        raise InvalidProducerIdMapping()
    was_sent_again = used_up or command.producer.epoch + 1 == known.epoch
    is_current = command.producer.epoch == known.epoch
    has_ended = known.state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
    if not is_current and not (was_sent_again and has_ended):
        raise ProducerFenced()
    return _VERSION_2.get((known.state, command.is_commit, was_sent_again))


def _used_up_its_epochs(known: Transaction, command: EndTransaction) -> bool:
    """Whether this request was answered with a new producer id, and comes again with the old."""
    return (
        command.producer.producer_id == known.previous_producer_id
        and command.producer.epoch == LAST_EPOCH - 1
        and known.epoch == 0
    )
