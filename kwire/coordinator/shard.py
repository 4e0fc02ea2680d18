"""One internal partition's coordinator: a state machine, the log behind it, and who waits.

Commands are carried out one at a time: decide, append the records, wait until they are durable,
apply them, answer. What the log holds changes in memory by `apply` alone, and the same `apply`
replays the log on load; what only memory knows (who waits, whose time is running) a machine may
change while it decides. A command that comes while records are on their way waits for its turn.
"""

import logging
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kwire.clock import Clock
from kwire.codec.records.control import marker_key
from kwire.coordinator.decision import Asker, Decision, StoredRecord, TimerKey
from kwire.coordinator.timers import Timers
from kwire.errors import (
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    ErrorCode,
    KwireError,
    NotCoordinator,
)
from kwire.tasks import Later

_log = logging.getLogger(__name__)

# What the log says to a producer means something else to a client of its coordinator.
_NOT_AVAILABLE = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.REQUEST_TIMED_OUT,
}
_NOT_HERE = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR}
# A producer is fenced, or a coordinator is, whoever tells it.
_AS_IT_IS = {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED}


class Machine(Protocol):
    """What a coordinator decides, and how it remembers."""

    def decide(self, command: Any, asker: Asker, now_ms: int) -> Decision:
        """What is to happen; raises `KwireError` to refuse."""

    def apply(self, record: StoredRecord) -> None:
        """Take over what the log holds, live and on load."""

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """The records of this producer's transaction count from now on, or never did."""

    def loaded(self, now_ms: int) -> Decision:
        """The log was replayed: what is to be timed from now on."""

    def unloaded(self) -> Decision:
        """This broker coordinates no longer: what to tell those who wait."""


class Journal(Protocol):
    """The log of an internal partition."""

    def append(self, records: Sequence[StoredRecord], now_ms: int) -> Later[int | KwireError]:
        """Write records; the offset of the first comes when they are durable."""


M = TypeVar("M", bound=Machine)


class _Turn(NamedTuple):
    command: Any
    asker: Asker
    timer: TimerKey = None
    """Which timer rang, if it was one."""


class Shard(Generic[M]):
    def __init__(self, machine: M, journal: Journal, timers: Timers, clock: Clock) -> None:
        self._machine = machine
        self._journal = journal
        self._timers = timers
        self._clock = clock
        self._turns: deque[_Turn] = deque()
        self._rung: set[TimerKey] = set()
        self._refusal: type[KwireError] | None = CoordinatorLoadInProgress
        self._is_running = False
        self._is_writing = False

    @property
    def machine(self) -> M:
        """The state to read from; refused while it is not all there."""
        if self._refusal is not None:
            raise self._refusal()
        return self._machine

    def submit(self, command: Any) -> Asker:
        """Carry out a client's command when its turn comes."""
        asker: Asker = Later()
        if self._refusal is not None:
            asker.complete(self._refusal())
        else:
            self._enqueue(_Turn(command, asker))
        return asker

    def remind(self, command: Any) -> None:
        """Carry out a command of our own; one that comes while the log is read waits for it."""
        if self._refusal in (None, CoordinatorLoadInProgress):
            self._enqueue(_Turn(command, Later()))

    def finish_loading(self, error: Exception | None) -> None:
        """The log was replayed into the machine, or could not be: then nobody coordinates."""
        if self._refusal is not CoordinatorLoadInProgress:
            return
        if error is not None:
            self._refusal = NotCoordinator
            self._turns.clear()
            return
        self._refusal = None
        self._carry_out(self._machine.loaded(self._clock.now_ms()))
        self._run()

    def close(self) -> None:
        """Stop coordinating; whoever waits is told to look elsewhere."""
        if self._refusal is None:
            decision = self._machine.unloaded()
            self._tell(decision)
        self._refusal = NotCoordinator
        self._timers.stop_all()
        for turn in self._turns:
            turn.asker.complete(NotCoordinator())
        self._turns.clear()

    def _ring(self, timer: TimerKey, command: Any) -> None:
        self._rung.add(timer)
        self._enqueue(_Turn(command, Later(), timer))

    def _enqueue(self, turn: _Turn) -> None:
        self._turns.append(turn)
        self._run()

    def _run(self) -> None:
        """Carry out what waits, in a loop rather than in calls that nest ever deeper."""
        if self._is_running:
            return
        self._is_running = True
        try:
            while self._turns and not self._is_writing and self._refusal is None:
                self._decide(self._turns.popleft())
        finally:
            self._is_running = False

    def _decide(self, turn: _Turn) -> None:
        if turn.timer is not None:
            # A command before this one may have stopped the timer, or set it anew.
            if turn.timer not in self._rung:
                return
            self._rung.discard(turn.timer)
        try:
            decision = self._machine.decide(turn.command, turn.asker, self._clock.now_ms())
        except KwireError as refusal:
            turn.asker.complete(refusal)
            return
        except Exception:
            # A bug of ours: the client is told so, and everybody else is served on.
            _log.exception("command failed command=%s", type(turn.command).__name__)
            turn.asker.complete(KwireError())
            return
        self._carry_out(decision, turn)

    def _carry_out(self, decision: Decision, turn: _Turn | None = None) -> None:
        for key, wake in decision.timers.items():
            self._rung.discard(key)
            if wake is None:
                self._timers.stop(key)
            else:
                self._timers.start(key, wake.delay_ms, partial(self._ring, key, wake.command))
        if not decision.records:
            self._tell(decision)
            return
        self._is_writing = True
        written = self._journal.append(decision.records, self._clock.now_ms())
        written.then(lambda outcome: self._written(outcome, decision, turn))

    def _written(self, outcome: int | KwireError, decision: Decision, turn: _Turn | None) -> None:
        self._is_writing = False
        if self._refusal is not None:
            if turn is not None:
                turn.asker.complete(self._refusal())
            return
        if isinstance(outcome, KwireError):
            self._refuse(outcome, decision, turn)
        else:
            for delta, record in enumerate(decision.records):
                self._apply(record._replace(offset=outcome + delta))
            self._tell(decision)
            if decision.decides_again and turn is not None:
                self._turns.appendleft(turn)
        self._run()

    def _apply(self, record: StoredRecord) -> None:
        if record.is_marker:
            is_committed = record.key == marker_key(is_abort=False)
            self._machine.end_transaction(record.producer_id, is_committed=is_committed)
        else:
            self._machine.apply(record)

    def _refuse(self, error: KwireError, decision: Decision, turn: _Turn | None) -> None:
        refusal = _as_coordinator(error)
        _log.error("records not written records=%d: %s", len(decision.records), error.message)
        if decision.if_refused is not None:
            self._carry_out(decision.if_refused(refusal))
        if turn is not None:
            turn.asker.complete(refusal)

    def _tell(self, decision: Decision) -> None:
        for asker, answer in decision.answers:
            asker.complete(answer)


def _as_coordinator(error: KwireError) -> KwireError:
    if error.code in _NOT_AVAILABLE:
        return CoordinatorNotAvailable()
    if error.code in _NOT_HERE:
        return NotCoordinator()
    return error if error.code in _AS_IT_IS else KwireError()
