"""Whom a producer is to be: its id, and the epoch by which it fences those before it.

A producer that goes on after an error shows whom it was (KIP-360). If it shows the epoch before the
current one, its request came twice. Only memory knows that epoch, as in Kafka: the log does not.
"""

from kwire.errors import ProducerFenced
from kwire.transactions.commands import EndTransaction, InitProducer, NeedsProducerId
from kwire.transactions.state import NO_EPOCH, ProducerIdentity, Transaction, is_exhausted


class Identities:
    def __init__(self) -> None:
        self._last_epochs: dict[str, int] = {}

    def start(self, known: Transaction, command: InitProducer) -> ProducerIdentity:
        """For a new incarnation of a producer, or for one that goes on and is the newest."""
        expected = command.expected
        if expected is not None and expected.epoch != known.epoch:
            if expected.epoch == self._last_epochs.get(known.transactional_id, NO_EPOCH):
                return known.identity
            raise ProducerFenced()
        last_epoch = NO_EPOCH if expected is None else known.epoch
        if known.is_exhausted:
            identity = ProducerIdentity(new_producer_id(command), 0)
        else:
            identity = ProducerIdentity(known.producer_id, known.epoch + 1)
        self._last_epochs[known.transactional_id] = last_epoch
        return identity

    def bump(self, known: Transaction) -> None:
        """The end of a transaction gives its producer a new epoch."""
        self._last_epochs[known.transactional_id] = known.epoch

    def forget(self, transactional_id: str) -> None:
        self._last_epochs.pop(transactional_id, None)


def check(known: Transaction, expected: ProducerIdentity | None) -> None:
    """Refuse a producer that is neither the known one nor the one it was with its last epoch."""
    if expected is None or expected.producer_id == known.producer_id:
        return
    if expected.producer_id != known.previous_producer_id or not is_exhausted(expected.epoch):
        raise ProducerFenced()


def new_producer_id(command: InitProducer | EndTransaction) -> int:
    if command.new_producer_id is None:
        raise NeedsProducerId()
    return command.new_producer_id
