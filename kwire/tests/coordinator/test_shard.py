"""A shard carries out what its machine decides: write, wait, apply, answer."""

from typing import Any

import pytest

from kwire.clock import ManualClock
from kwire.coordinator.decision import Asker, Decision, StoredRecord, TransactionEnd
from kwire.coordinator.shard import Shard
from kwire.coordinator.timers import Timers
from kwire.errors import (
    CoordinatorLoadInProgress,
    ErrorCode,
    KwireError,
    NonEmptyGroup,
    NotCoordinator,
    NotEnoughReplicas,
)
from kwire.tests.groups.stage import MemoryJournal
from kwire.tests.handlers.nodes import ManualScheduler


class _Counter:
    """A machine that remembers words: `say` stores one, other commands show what a shard does."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def decide(self, command: Any, asker: Asker, now_ms: int) -> Decision:
        verb, _, rest = command.partition(" ")
        decision = Decision()
        if verb == "refuse":
            raise NonEmptyGroup()
        if verb == "break":
            raise ZeroDivisionError
        if verb == "later":
            decision.start_timer("t", 100, rest)
        elif verb == "never":
            decision.stop_timer("t")
        elif verb == "twice" and len(self.words) < 2:
            decision.write(b"k", rest.encode())
            decision.decides_again = True
            return decision
        elif verb == "end":
            decision.end_transaction(TransactionEnd(7, 0, 0, is_commit=rest == "commit"))
        elif verb == "say":
            decision.write(b"k", rest.encode())
        decision.answer(asker, len(self.words))
        return decision

    def apply(self, record: StoredRecord) -> None:
        self.words.append(f"{(record.value or b'').decode()}@{record.offset}")

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        self.words.append(f"{'commit' if is_committed else 'abort'} {producer_id}")

    def loaded(self, now_ms: int) -> Decision:
        decision = Decision()
        decision.start_timer("loaded", 50, "say loaded")
        return decision

    def unloaded(self) -> Decision:
        return Decision()


class _Set:
    def __init__(self) -> None:
        self.scheduler = ManualScheduler(ManualClock())
        self.journal = MemoryJournal()
        self.counter = _Counter()
        timers = Timers(self.scheduler, self.scheduler.clock)
        self.shard = Shard(self.counter, self.journal, timers, self.scheduler.clock)

    def ask(self, command: str) -> Any:
        answered = self.shard.submit(command)
        assert answered.done
        if isinstance(answered.value, KwireError):
            return answered.value.code
        return answered.value


@pytest.fixture
def staged() -> _Set:
    made = _Set()
    made.shard.finish_loading(None)
    return made


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_marker_ends_a_transaction_in_its_turn(staged: _Set, end: str) -> None:
    staged.journal.is_slow = True
    staged.shard.submit("say a")
    staged.shard.submit(f"end {end}")
    staged.journal.catch_up()
    assert staged.counter.words == ["a@0"]
    staged.journal.catch_up()
    assert staged.counter.words == ["a@0", f"{end} 7"]


def test_records_are_applied_with_the_offset_they_landed_at(staged: _Set) -> None:
    staged.ask("say a")
    staged.ask("say b")
    assert staged.counter.words == ["a@0", "b@1"]


def test_nothing_is_applied_or_answered_before_the_records_are_durable(staged: _Set) -> None:
    staged.journal.is_slow = True
    first, second = staged.shard.submit("say a"), staged.shard.submit("count")
    assert (first.done, second.done, staged.counter.words) == (False, False, [])
    staged.journal.catch_up()
    assert (first.value, second.value) == (0, 1)


def test_commands_that_wait_are_carried_out_in_their_order(staged: _Set) -> None:
    staged.journal.is_slow = True
    for word in "abc":
        staged.shard.submit(f"say {word}")
    for _ in range(3):
        staged.journal.catch_up()
    assert staged.counter.words == ["a@0", "b@1", "c@2"]


def test_thousands_of_commands_that_waited_do_not_exhaust_the_stack(staged: _Set) -> None:
    staged.journal.is_slow = True
    staged.shard.submit("say a")
    last = [staged.shard.submit("say b") for _ in range(3000)][-1]
    staged.journal.is_slow = False
    staged.journal.catch_up()
    assert last.value == 3000


def test_a_command_can_be_decided_again_on_what_it_stored(staged: _Set) -> None:
    assert staged.ask("twice a") == 2
    assert staged.counter.words == ["a@0", "a@1"]


def test_a_refusal_is_an_answer(staged: _Set) -> None:
    assert staged.ask("refuse") == ErrorCode.NON_EMPTY_GROUP


def test_a_bug_is_told_as_such_and_others_are_served_on(
    staged: _Set, caplog: pytest.LogCaptureFixture
) -> None:
    assert staged.ask("break") == ErrorCode.UNKNOWN_SERVER_ERROR
    assert "command failed" in caplog.text
    assert staged.ask("count") == 0


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (NotEnoughReplicas(), ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (NotCoordinator(), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_the_log_refuses_did_not_happen(
    staged: _Set, refusal: KwireError, told: ErrorCode
) -> None:
    staged.journal.refusal = refusal
    assert staged.ask("say a") == told
    assert staged.counter.words == []
    assert staged.ask("say b") == 0


def test_timers_carry_out_their_commands(staged: _Set) -> None:
    staged.ask("later say rung")
    staged.scheduler.pass_time(100)
    assert staged.counter.words == ["loaded@0", "rung@1"]


def test_a_timer_that_rang_can_be_stopped_until_its_turn_comes(staged: _Set) -> None:
    staged.ask("later say rung")
    staged.journal.is_slow = True
    staged.shard.submit("say a")
    staged.shard.submit("never")
    staged.scheduler.pass_time(100)
    staged.journal.is_slow = False
    staged.journal.catch_up()
    assert staged.counter.words == ["a@0", "loaded@1"]


def test_while_the_log_is_read_clients_are_put_off_and_our_own_commands_wait() -> None:
    staged = _Set()
    assert staged.ask("say a") == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    with pytest.raises(CoordinatorLoadInProgress):
        _ = staged.shard.machine
    staged.shard.remind("say b")
    assert staged.counter.words == []
    staged.shard.finish_loading(None)
    assert staged.counter.words == ["b@0"]
    assert staged.shard.machine is staged.counter


def test_a_log_that_cannot_be_read_is_coordinated_by_nobody() -> None:
    staged = _Set()
    staged.shard.remind("say a")
    staged.shard.finish_loading(OSError("torn"))
    assert staged.ask("say b") == ErrorCode.NOT_COORDINATOR
    assert staged.counter.words == []


def test_a_closed_shard_answers_and_does_nothing_any_more(staged: _Set) -> None:
    staged.ask("later say rung")
    staged.journal.is_slow = True
    writing, waiting = staged.shard.submit("say a"), staged.shard.submit("count")
    staged.shard.close()
    staged.journal.catch_up()
    staged.shard.remind("say b")
    staged.scheduler.pass_time(1000)
    assert staged.counter.words == []
    for asker in (writing, waiting):
        assert isinstance(asker.value, NotCoordinator)


def test_a_shard_that_was_closed_while_loading_stays_closed() -> None:
    staged = _Set()
    staged.shard.close()
    staged.shard.finish_loading(None)
    assert staged.ask("count") == ErrorCode.NOT_COORDINATOR
