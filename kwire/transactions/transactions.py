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
    KwireError,
    NotCoordinator,
    ProducerFenced,
)
from kwire.tasks import Later
from kwire.transactions import commands, identities
from kwire.transactions.ending import Outcome, outcome
from kwire.transactions.identities import Identities, new_producer_id
from kwire.transactions.state import (
    AT_REST,
    ENDING,
    VERSION_2,
    ProducerIdentity,
    Transaction,
    TransactionState,
    from_stored,
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

    def __init__(
        self, config: BrokerConfig, write_markers: WriteMarkers, see_id: Callable[[int], None]
    ) -> None:
        self._config = config
        self._write_markers = write_markers
        self._see_id = see_id
        self.transactions: dict[str, Transaction] = {}
        self._identities = Identities()
        self._looks_for_timeouts = False
        self._waiting: dict[str, list[tuple[commands.AddPartitions, Asker]]] = {}

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
            self._identities.forget(transactional_id)
        else:
            stored = transaction_state.read_value(record.value)
            self.transactions[transactional_id] = from_stored(transactional_id, stored)
            self._see_id(stored.producer_id)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """Nobody writes to this log in a transaction."""

    def loaded(self, now_ms: int) -> Decision:
        """Finish what was ending, and time what is open."""
        decision = Decision()
        self._plan_expiry(decision)
        self._plan_timeouts(decision, self.transactions.values(), now_ms)
        for transaction in self.transactions.values():
            if transaction.state in ENDING:
                self._send_markers(transaction, decision, is_again=True)
        return decision

    def unloaded(self) -> Decision:
        """Whoever waits is to look for another coordinator."""
        decision = Decision()
        for waiting in self._waiting.values():
            for _, asker in waiting:
                decision.answer(asker, NotCoordinator())
        return decision

    def missing(
        self, transactional_id: str, producer: ProducerIdentity, wanted: Iterable[TopicPartition]
    ) -> frozenset[TopicPartition]:
        """Which of these partitions a producer's transaction does not write to (KIP-890)."""
        known = _of_producer(self.transactions.get(transactional_id), producer)
        if known.state in ENDING:
            raise ConcurrentTransactions()
        return frozenset(wanted) - known.partitions

    def _init(self, command: commands.InitProducer, turn: _Turn) -> None:
        known = self.transactions.get(command.transactional_id)
        if known is None:
            self._create(command, turn)
            return
        if known.state in ENDING:
            raise ConcurrentTransactions()
        identities.check(known, command.expected)
        if known.state is TransactionState.ONGOING:
            self._abort(known, turn)
            turn.decision.answer(turn.asker, ConcurrentTransactions())
            return
        self._initialize(known, self._identities.start(known, command), command, turn)

    def _create(self, command: commands.InitProducer, turn: _Turn) -> None:
        identity = ProducerIdentity(new_producer_id(command), 0)
        fresh = Transaction(
            command.transactional_id,
            *identity,
            command.timeout_ms,
            TransactionState.EMPTY,
            frozenset(),
            turn.now_ms,
        )
        self._initialize(fresh, identity, command, turn)

    def _initialize(
        self,
        known: Transaction,
        identity: ProducerIdentity,
        command: commands.InitProducer,
        turn: _Turn,
    ) -> None:
        _write(known.initialized(identity, command.timeout_ms, turn.now_ms), turn.decision)
        turn.decision.answer(turn.asker, identity)

    def _add_partitions(self, command: commands.AddPartitions, turn: _Turn) -> None:
        known = self.transactions.get(command.transactional_id)
        if known is not None and known.state in ENDING:
            self._wait_for_end(command, turn)
        else:
            self._grow(_of_producer(known, command.producer), command, turn)

    def _grow(
        self, known: Transaction, command: commands.AddPartitions, turn: _Turn
    ) -> Transaction:
        turn.decision.answer(turn.asker, None)
        if known.state is TransactionState.ONGOING and command.partitions <= known.partitions:
            return known
        grown = known.with_partitions(command.partitions, command.client_version, turn.now_ms)
        _write(grown, turn.decision)
        self._plan_timeouts(turn.decision, [grown], turn.now_ms)
        return grown

    def _wait_for_end(self, command: commands.AddPartitions, turn: _Turn) -> None:
        """Clients with a new epoch after each end go on at once; older ones ask again."""
        if command.client_version < VERSION_2:
            raise ConcurrentTransactions()
        name = command.transactional_id
        self._waiting.setdefault(name, []).append((command, turn.asker))
        patience_ms = self._config.add_partitions_to_txn_retry_backoff_max_ms
        turn.decision.start_timer(("waiting", name), patience_ms, commands.EndTakesTooLong(name))

    def _give_up(self, command: commands.EndTakesTooLong, turn: _Turn) -> None:
        for _, asker in self._waiting.pop(command.transactional_id, ()):
            turn.decision.answer(asker, ConcurrentTransactions())

    def _go_on(self, ended: Transaction, turn: _Turn) -> None:
        """Those who waited for the end add to the next transaction, all in one decision."""
        name = ended.transactional_id
        turn.decision.stop_timer(("waiting", name))
        for command, asker in self._waiting.pop(name, ()):
            try:
                known = _of_producer(ended, command.producer)
            except KwireError as refusal:
                turn.decision.answer(asker, refusal)
            else:
                ended = self._grow(known, command, turn._replace(asker=asker))

    def _end(self, command: commands.EndTransaction, turn: _Turn) -> None:
        known = self.transactions.get(command.transactional_id)
        if known is None:
            raise InvalidProducerIdMapping()
        if outcome(known, command) is Outcome.OVER:
            turn.decision.answer(turn.asker, known.identity)
            return
        next_producer_id = NO_PRODUCER_ID
        if command.client_version >= VERSION_2:
            self._identities.bump(known)
            if known.is_exhausted:
                next_producer_id = new_producer_id(command)
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
        self._identities.bump(known)
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
            ended = ending.ended(turn.now_ms)
            _write(ended, turn.decision)
            self._go_on(ended, turn)

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
        self._plan_timeouts(turn.decision, self.transactions.values(), turn.now_ms)
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

    def _plan_timeouts(self, decision: Decision, among: Iterable[Transaction], now_ms: int) -> None:
        """Look for timeouts at intervals, as long as there is anything that can time out.

        The first look may come sooner, when a timeout is over: readers of what is committed wait
        for it. What is late already could not be aborted and has to wait for its turn.
        """
        if self._looks_for_timeouts:
            return
        open_ = [one for one in among if one.state is TransactionState.ONGOING]
        if open_:
            interval_ms = self._config.transaction_abort_timed_out_transaction_cleanup_interval_ms
            left_ms = (one.started_ms + one.timeout_ms - now_ms for one in open_)
            delay_ms = min([interval_ms, *(left + 1 for left in left_ms if left >= 0)])
            decision.start_timer(TIMEOUT_TIMER, delay_ms, commands.AbortTimedOut())
            self._looks_for_timeouts = True

    def _plan_expiry(self, decision: Decision) -> None:
        interval_ms = self._config.transaction_remove_expired_transaction_cleanup_interval_ms
        decision.start_timer(EXPIRY_TIMER, interval_ms, commands.ExpireIds())


def _of_producer(known: Transaction | None, producer: ProducerIdentity) -> Transaction:
    """The transaction, if it is this producer's."""
    if known is None or known.producer_id != producer.producer_id:
        raise InvalidProducerIdMapping()
    if known.epoch != producer.epoch:
        raise ProducerFenced()
    return known


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
    commands.EndTakesTooLong: Transactions._give_up,
    commands.AbortTimedOut: Transactions._abort_timed_out,
    commands.ExpireIds: Transactions._expire,
}
