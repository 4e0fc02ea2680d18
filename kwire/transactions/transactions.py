"""All transactional ids of one shard: what a command makes of them, and what the log says.

Markers are written by others. They are told what to write when the log has decided how a
transaction ends, and tell back when every partition knows. Until then the transaction is ending,
also over a restart: whoever loads the log has the markers written again.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kwire.codec.internal import transaction_state
from kwire.codec.internal.transaction_state import NO_PRODUCER_ID
from kwire.codec.internal.versioned import version_of
from kwire.config.broker import BrokerConfig
from kwire.coordinator.decision import Asker, Decision, StoredRecord
from kwire.errors import (
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    ProducerFenced,
)
from kwire.tasks import Later
from kwire.transactions import commands
from kwire.transactions.ending import Outcome, outcome
from kwire.transactions.state import (
    AT_REST,
    ENDING,
    NO_EPOCH,
    VERSION_2,
    ProducerIdentity,
    Transaction,
    TransactionState,
    from_stored,
    is_exhausted,
    to_stored,
)
from kwire.types import TopicPartition

TIMEOUT_TIMER = "timeouts"
EXPIRY_TIMER = "expiry"
MARKERS_RETRY_MS = 100

WriteMarkers = Callable[[Transaction, bool], None]
"""Have the markers of a transaction written; some may be there if it is not for the first time."""

_log = logging.getLogger(__name__)


class _Turn(NamedTuple):
    asker: Asker
    decision: Decision
    now_ms: int


class Transactions:
    """A coordinator's state machine: `decide`, then `apply`. It does no input or output."""

    def __init__(self, config: BrokerConfig, write_markers: WriteMarkers) -> None:
        self._config = config
        self._write_markers = write_markers
        self.transactions: dict[str, Transaction] = {}
        # The epoch that a producer had before it asked for its current one: if it shows that, its
        # request came twice (KIP-360). The log does not have it, in Kafka neither.
        self._last_epochs: dict[str, int] = {}
        self._looks_for_timeouts = False

    def decide(self, command: Any, asker: Asker, now_ms: int) -> Decision:
        decision = Decision()
        _DECIDE[type(command)](self, command, _Turn(asker, decision, now_ms))
        return decision

    def apply(self, record: StoredRecord) -> None:
        if version_of(record.key) != transaction_state.KEY_VERSION:
            return
        transactional_id = transaction_state.read_key(record.key)
        if record.value is None:
            self.transactions.pop(transactional_id, None)
            self._last_epochs.pop(transactional_id, None)
        else:
            stored = transaction_state.read_value(record.value)
            self.transactions[transactional_id] = from_stored(transactional_id, stored)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """Nobody writes to this log in a transaction."""

    def loaded(self, now_ms: int) -> Decision:
        """Finish what was ending, and time what is open."""
        decision = Decision()
        self._plan_expiry(decision)
        self._plan_timeouts(decision, self.transactions.values())
        for transaction in self.transactions.values():
            if transaction.state in ENDING:
                self._send_markers(transaction, decision, is_again=True)
        return decision

    def unloaded(self) -> Decision:
        """Nobody waits here for longer than a record takes to be written."""
        return Decision()

    def missing(
        self, transactional_id: str, producer: ProducerIdentity, wanted: Iterable[TopicPartition]
    ) -> frozenset[TopicPartition]:
        """Which of these partitions a producer's transaction does not write to (KIP-890)."""
        known = self._of_producer(transactional_id, producer)
        return frozenset(wanted) - known.partitions

    def _init(self, command: commands.InitProducer, turn: _Turn) -> None:
        known = self.transactions.get(command.transactional_id)
        if known is None:
            self._create(command, turn)
            return
        if command.expected is not None and not _may_go_on(known, command.expected):
            raise ProducerFenced()
        if known.state in ENDING:
            raise ConcurrentTransactions()
        if known.state is TransactionState.ONGOING:
            self._abort(known, turn)
            turn.decision.answer(turn.asker, ConcurrentTransactions())
            return
        identity, last_epoch = self._next_identity(known, command)
        self._initialize(known, identity, last_epoch, command, turn)

    def _create(self, command: commands.InitProducer, turn: _Turn) -> None:
        identity = ProducerIdentity(_new_producer_id(command), 0)
        fresh = Transaction(
            command.transactional_id,
            *identity,
            command.timeout_ms,
            TransactionState.EMPTY,
            frozenset(),
            turn.now_ms,
        )
        self._initialize(fresh, identity, NO_EPOCH, command, turn)

    def _next_identity(
        self, known: Transaction, command: commands.InitProducer
    ) -> tuple[ProducerIdentity, int]:
        """Whom the producer is to be from now on, and the epoch that it had as far as it knows."""
        expected = command.expected
        is_current = expected is not None and expected.epoch == known.epoch
        last_epoch = known.epoch if is_current else NO_EPOCH
        if known.is_exhausted and (expected is None or is_current):
            return ProducerIdentity(_new_producer_id(command), 0), last_epoch
        if expected is None or is_current:
            return ProducerIdentity(known.producer_id, known.epoch + 1), last_epoch
        if expected.epoch == self._last_epochs.get(known.transactional_id, NO_EPOCH):
            return known.identity, expected.epoch
        raise ProducerFenced()

    def _initialize(
        self,
        known: Transaction,
        identity: ProducerIdentity,
        last_epoch: int,
        command: commands.InitProducer,
        turn: _Turn,
    ) -> None:
        self._last_epochs[command.transactional_id] = last_epoch
        _write(known.initialized(identity, command.timeout_ms, turn.now_ms), turn.decision)
        turn.decision.answer(turn.asker, identity)

    def _add_partitions(self, command: commands.AddPartitions, turn: _Turn) -> None:
        known = self._of_producer(command.transactional_id, command.producer)
        is_known = known.state is TransactionState.ONGOING
        if not is_known or not command.partitions <= known.partitions:
            grown = known.with_partitions(command.partitions, command.client_version, turn.now_ms)
            _write(grown, turn.decision)
            self._plan_timeouts(turn.decision, [grown])
        turn.decision.answer(turn.asker, None)

    def _end(self, command: commands.EndTransaction, turn: _Turn) -> None:
        known = self.transactions.get(command.transactional_id)
        if known is None:
            raise InvalidProducerIdMapping()
        if outcome(known, command) is Outcome.OVER:
            turn.decision.answer(turn.asker, known.identity)
            return
        next_producer_id = NO_PRODUCER_ID
        if command.client_version >= VERSION_2:
            self._last_epochs[command.transactional_id] = known.epoch
            if known.is_exhausted:
                next_producer_id = _new_producer_id(command)
        ending = known.ending(
            is_commit=command.is_commit,
            client_version=command.client_version,
            next_producer_id=next_producer_id,
            now_ms=turn.now_ms,
        )
        _write(ending, turn.decision)
        turn.decision.answer(turn.asker, ending.ended(turn.now_ms).identity)
        self._send_markers(ending, turn.decision)

    def _abort(self, known: Transaction, turn: _Turn) -> None:
        """End a transaction for its producer, which is fenced by a new epoch."""
        self._last_epochs[known.transactional_id] = known.epoch
        ending = known.ending(
            is_commit=False,
            client_version=VERSION_2,
            next_producer_id=NO_PRODUCER_ID,
            now_ms=turn.now_ms,
        )
        _write(ending, turn.decision)
        self._send_markers(ending, turn.decision)

    def _complete(self, command: commands.MarkersWritten, turn: _Turn) -> None:
        ending = self._still_ending(command)
        if ending is not None:
            _write(ending.ended(turn.now_ms), turn.decision)

    def _wait_for_partitions(self, command: commands.MarkersMissing, turn: _Turn) -> None:
        if self._still_ending(command) is not None:
            again = commands.WriteMarkersAgain(*command)
            timer = ("markers", command.transactional_id)
            turn.decision.start_timer(timer, MARKERS_RETRY_MS, again)

    def _write_again(self, command: commands.WriteMarkersAgain, turn: _Turn) -> None:
        ending = self._still_ending(command)
        if ending is not None:
            self._send_markers(ending, turn.decision, is_again=True)

    def _abort_timed_out(self, command: commands.AbortTimedOut, turn: _Turn) -> None:
        self._looks_for_timeouts = False
        self._plan_timeouts(turn.decision, self.transactions.values())
        for known in self.transactions.values():
            is_open = known.state is TransactionState.ONGOING
            if is_open and known.started_ms + known.timeout_ms < turn.now_ms:
                _log.info("transaction timed out transactional_id=%s", known.transactional_id)
                self._abort(known, turn)

    def _expire(self, command: commands.ExpireIds, turn: _Turn) -> None:
        oldest_ms = turn.now_ms - self._config.transactional_id_expiration_ms
        for known in self.transactions.values():
            if known.state in AT_REST and known.updated_ms <= oldest_ms:
                turn.decision.write(transaction_state.write_key(known.transactional_id), None)
        if turn.decision.records:
            _log.info("transactional ids expired count=%d", len(turn.decision.records))
        self._plan_expiry(turn.decision)

    def _of_producer(self, transactional_id: str, producer: ProducerIdentity) -> Transaction:
        """The transaction that a producer may add to."""
        known = self.transactions.get(transactional_id)
        if known is None or known.producer_id != producer.producer_id:
            raise InvalidProducerIdMapping()
        if known.epoch != producer.epoch:
            raise ProducerFenced()
        if known.state in ENDING:
            raise ConcurrentTransactions()
        return known

    def _still_ending(
        self,
        command: commands.MarkersWritten | commands.MarkersMissing | commands.WriteMarkersAgain,
    ) -> Transaction | None:
        known = self.transactions.get(command.transactional_id)
        if known is None or known.state not in ENDING or known.identity != command.producer:
            return None
        return known

    def _send_markers(
        self, ending: Transaction, decision: Decision, *, is_again: bool = False
    ) -> None:
        """Whoever writes the markers waits for the log like those who wait for an answer."""
        decided: Later[Transaction] = Later()
        decided.then(lambda transaction: self._write_markers(transaction, is_again))
        decision.answer(decided, ending)

    def _plan_timeouts(self, decision: Decision, among: Iterable[Transaction]) -> None:
        """Look for timeouts at intervals, as long as there is anything that can time out."""
        if self._looks_for_timeouts:
            return
        if any(one.state is TransactionState.ONGOING for one in among):
            interval_ms = self._config.transaction_abort_timed_out_transaction_cleanup_interval_ms
            decision.start_timer(TIMEOUT_TIMER, interval_ms, commands.AbortTimedOut())
            self._looks_for_timeouts = True

    def _plan_expiry(self, decision: Decision) -> None:
        interval_ms = self._config.transaction_remove_expired_transaction_cleanup_interval_ms
        decision.start_timer(EXPIRY_TIMER, interval_ms, commands.ExpireIds())


def _may_go_on(known: Transaction, expected: ProducerIdentity) -> bool:
    """Whether this producer, or the one it was before its epochs were used up, is the known one."""
    if expected.producer_id == known.producer_id:
        return True
    return expected.producer_id == known.previous_producer_id and is_exhausted(expected.epoch)


def _new_producer_id(command: commands.InitProducer | commands.EndTransaction) -> int:
    if command.new_producer_id is None:
        raise commands.NeedsProducerId()
    return command.new_producer_id


def _write(transaction: Transaction, decision: Decision) -> None:
    decision.write(
        transaction_state.write_key(transaction.transactional_id),
        transaction_state.write_value(to_stored(transaction)),
    )


_DECIDE: dict[type, Callable[[Transactions, Any, _Turn], None]] = {
    commands.InitProducer: Transactions._init,
    commands.AddPartitions: Transactions._add_partitions,
    commands.EndTransaction: Transactions._end,
    commands.MarkersWritten: Transactions._complete,
    commands.MarkersMissing: Transactions._wait_for_partitions,
    commands.WriteMarkersAgain: Transactions._write_again,
    commands.AbortTimedOut: Transactions._abort_timed_out,
    commands.ExpireIds: Transactions._expire,
}
