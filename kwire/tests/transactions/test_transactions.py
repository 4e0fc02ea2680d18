"""What a coordinator of transactions decides, and that its log says the same."""

import random
from functools import partial

import pytest

from kwire.coordinator.decision import Asker, StoredRecord
from kwire.errors import (
    ConcurrentTransactions,
    ErrorCode,
    KafkaStorageError,
    NotCoordinator,
    ProducerFenced,
)
from kwire.tests.transactions.stage import (
    BILLS,
    FIRST_PRODUCER_ID,
    ID,
    ORDERS,
    TIMEOUT_MS,
    Stage,
)
from kwire.transactions.commands import AddPartitions, EndTransaction, InitProducer
from kwire.transactions.state import (
    LAST_EPOCH,
    VERSION_1,
    VERSION_2,
    ProducerIdentity,
    TransactionState,
)
from kwire.types import TopicPartition

PID = FIRST_PRODUCER_ID
EMPTY = TransactionState.EMPTY
ONGOING = TransactionState.ONGOING
PREPARE_COMMIT = TransactionState.PREPARE_COMMIT
PREPARE_ABORT = TransactionState.PREPARE_ABORT
COMPLETE_COMMIT = TransactionState.COMPLETE_COMMIT
COMPLETE_ABORT = TransactionState.COMPLETE_ABORT
SWEEP_MS = 10_000
FENCED = ErrorCode.PRODUCER_FENCED
STRANGER = ErrorCode.INVALID_PRODUCER_ID_MAPPING
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


def _open(version: int = VERSION_1, **settings: object) -> Stage:
    stage = Stage(**settings)
    stage.init()
    stage.add(PID, 0, ORDERS, BILLS, client_version=version)
    return stage


def test_the_first_producer_of_an_id_starts_at_epoch_0() -> None:
    stage = Stage()
    assert stage.init() == (PID, 0)
    assert stage.known.timeout_ms == TIMEOUT_MS
    assert stage.state is EMPTY


@pytest.mark.parametrize(
    ("epoch", "expected", "answer"),
    [
        # A new incarnation of the producer bumps the epoch of whatever was there.
        (0, (), (PID, 1)),
        (LAST_EPOCH - 2, (), (PID, LAST_EPOCH - 1)),
        (LAST_EPOCH - 1, (), (PID + 1, 0)),
        (LAST_EPOCH, (), (PID + 1, 0)),
        # One that goes on shows what it had (KIP-360).
        (3, (PID, 3), (PID, 4)),
        (3, (PID, 2), FENCED),
        (3, (PID, 4), FENCED),
        (3, (PID + 7, 3), FENCED),
        (LAST_EPOCH - 1, (PID, LAST_EPOCH - 1), (PID + 1, 0)),
        (LAST_EPOCH - 1, (PID, LAST_EPOCH - 2), FENCED),
    ],
)
@pytest.mark.parametrize("state", [EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_a_producer_gets_the_next_epoch_or_is_fenced(
    state: TransactionState, epoch: int, expected: tuple[int, ...], answer: object
) -> None:
    stage = Stage()
    stage.init()
    stage.force(epoch=epoch, state=state)
    assert stage.init(*expected) == answer


def test_a_request_for_a_new_epoch_that_comes_twice_is_answered_alike() -> None:
    stage = Stage()
    stage.init()
    assert stage.init(PID, 0) == stage.init(PID, 0) == (PID, 1)
    assert stage.init() == (PID, 2)
    assert stage.init(PID, 0) == FENCED


def test_a_request_for_a_new_id_that_comes_twice_is_answered_alike() -> None:
    stage = Stage()
    stage.init()
    stage.force(epoch=LAST_EPOCH - 1)
    assert stage.init(PID, LAST_EPOCH - 1) == stage.init(PID, LAST_EPOCH - 1) == (PID + 1, 0)


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
def test_nobody_starts_while_a_transaction_is_ending(state: TransactionState) -> None:
    stage = _open()
    stage.force(state=state)
    assert stage.init() == stage.init(PID, 0) == stage.init(PID + 1, 0) == BUSY


def test_a_new_producer_aborts_what_the_old_one_left_open() -> None:
    stage = _open()
    assert stage.init() == BUSY
    assert (stage.state, stage.known.epoch) == (PREPARE_ABORT, 1)
    assert stage.init() == BUSY
    stage.finish()
    assert stage.init() == (PID, 2)
    assert stage.add(PID, 0) == FENCED
    assert stage.end(PID, 0, is_commit=True) == FENCED


def test_fencing_with_the_last_epoch_leads_to_a_new_id() -> None:
    stage = _open()
    stage.force(epoch=LAST_EPOCH - 1)
    assert stage.init() == BUSY
    assert stage.known.identity == (PID, LAST_EPOCH)
    stage.finish()
    assert stage.init() == (PID + 1, 0)


@pytest.mark.parametrize("state", [EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_partitions_are_added_unless_a_transaction_is_ending(state: TransactionState) -> None:
    stage = _open()
    stage.force(state=state, partitions=frozenset({BILLS}) if state is ONGOING else frozenset())
    assert stage.add(PID, 0, ORDERS) is None
    assert stage.state is ONGOING
    assert stage.known.partitions == ({ORDERS, BILLS} if state is ONGOING else {ORDERS})


@pytest.mark.parametrize(
    ("state", "producer_id", "epoch", "code"),
    [
        (PREPARE_COMMIT, PID, 0, BUSY),
        (PREPARE_ABORT, PID, 0, BUSY),
        (ONGOING, PID + 1, 0, STRANGER),
        (ONGOING, PID, 1, FENCED),
        (EMPTY, PID, -1, FENCED),
        (PREPARE_ABORT, PID, 7, BUSY),
    ],
)
def test_who_may_not_add_is_told_why(
    state: TransactionState, producer_id: int, epoch: int, code: ErrorCode
) -> None:
    stage = _open()
    stage.force(state=state)
    before = len(stage.journal.records)
    assert stage.add(producer_id, epoch) == code
    assert len(stage.journal.records) == before


def _add_later(stage: Stage, producer_id: int, epoch: int) -> Asker:
    producer = ProducerIdentity(producer_id, epoch)
    return stage.shard.submit(AddPartitions(ID, producer, frozenset({BILLS}), VERSION_2))


def test_version_2_goes_on_as_soon_as_the_end_is_complete() -> None:
    stage = _open(VERSION_2)
    stage.end(PID, 0, is_commit=True, client_version=VERSION_2)
    current, same, old = (_add_later(stage, PID, epoch) for epoch in (1, 1, 0))
    assert [one.done for one in (current, same, old)] == [False] * 3
    stage.finish()
    assert (current.done, current.value, same.done, same.value) == (True, None, True, None)
    assert isinstance(old.value, ProducerFenced)
    assert stage.state is ONGOING
    assert stage.known.partitions == {BILLS}
    lived = stage.known
    stage.restart()
    assert stage.known == lived


def test_version_2_goes_on_with_an_id_that_counts_from_the_end_on() -> None:
    stage = _open(VERSION_2)
    stage.force(epoch=LAST_EPOCH - 1)
    new_id, _ = stage.end(PID, LAST_EPOCH - 1, is_commit=True, client_version=VERSION_2)
    added = _add_later(stage, new_id, 0)
    assert not added.done
    stage.finish()
    assert (added.done, added.value) == (True, None)
    assert stage.known.identity == (new_id, 0)


def test_an_end_that_takes_too_long_is_not_waited_for() -> None:
    stage = _open(VERSION_2, add_partitions_to_txn_retry_backoff_max_ms=50)
    stage.end(PID, 0, is_commit=True, client_version=VERSION_2)
    added = _add_later(stage, PID, 1)
    stage.scheduler.pass_time(50)
    assert isinstance(added.value, ConcurrentTransactions)
    stage.finish()
    assert stage.state is COMPLETE_COMMIT


def test_who_waits_looks_elsewhere_when_the_shard_is_closed() -> None:
    stage = _open(VERSION_2)
    stage.end(PID, 0, is_commit=True, client_version=VERSION_2)
    added = _add_later(stage, PID, 1)
    stage.shard.close()
    assert isinstance(added.value, NotCoordinator)


def test_partitions_that_are_known_are_not_written_again() -> None:
    stage = _open()
    before = len(stage.journal.records)
    assert stage.add(PID, 0, ORDERS) is None
    assert len(stage.journal.records) == before


def test_a_transaction_is_as_old_as_its_first_partition() -> None:
    stage = _open()
    started_ms = stage.known.started_ms
    stage.clock.advance(500)
    stage.add(PID, 0, TopicPartition("late", 0))
    assert stage.known.started_ms == started_ms
    assert stage.known.updated_ms == started_ms + 500


def test_an_id_that_nobody_has_begun_belongs_to_nobody() -> None:
    stage = Stage()
    assert stage.add(PID, 0) == STRANGER
    assert stage.end(PID, 0, is_commit=True) == STRANGER


@pytest.mark.parametrize("is_commit", [True, False])
def test_version_1_ends_with_the_epoch_it_began_with(is_commit: bool) -> None:
    stage = _open()
    assert stage.end(PID, 0, is_commit=is_commit) == (PID, 0)
    assert stage.state is (PREPARE_COMMIT if is_commit else PREPARE_ABORT)
    assert stage.known.partitions == {ORDERS, BILLS}
    stage.finish()
    assert stage.state is (COMPLETE_COMMIT if is_commit else COMPLETE_ABORT)
    assert stage.known.partitions == frozenset()
    assert stage.end(PID, 0, is_commit=is_commit) == (PID, 0)
    assert stage.add(PID, 0) is None


@pytest.mark.parametrize("is_commit", [True, False])
def test_version_2_ends_with_a_new_epoch(is_commit: bool) -> None:
    stage = _open(VERSION_2)
    end = partial(stage.end, is_commit=is_commit, client_version=VERSION_2)
    assert end(PID, 0) == (PID, 1)
    (told, is_again), *others = stage.markers
    assert (told.epoch, told.is_commit, is_again, others) == (1, is_commit, False, [])
    stage.finish()
    assert end(PID, 0) == (PID, 1)
    assert stage.add(PID, 0) == FENCED
    assert stage.add(PID, 1) is None


@pytest.mark.parametrize("state", [EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_version_2_may_abort_what_has_not_begun(state: TransactionState) -> None:
    stage = Stage()
    stage.init()
    stage.force(state=state)
    assert stage.end(PID, 0, is_commit=False, client_version=VERSION_2) == (PID, 1)
    ((told, _),) = stage.markers
    assert told.partitions == frozenset()
    assert told.started_ms == stage.clock.now_ms()
    stage.finish()
    assert stage.state is COMPLETE_ABORT


def test_the_last_epoch_is_followed_by_a_new_id() -> None:
    stage = _open(VERSION_2)
    stage.force(epoch=LAST_EPOCH - 1)
    end = partial(stage.end, is_commit=True, client_version=VERSION_2)
    assert end(PID, LAST_EPOCH - 1) == (PID + 1, 0)
    assert stage.known.identity == (PID, LAST_EPOCH)
    stage.finish()
    assert stage.known.identity == (PID + 1, 0)
    assert end(PID, LAST_EPOCH - 1) == (PID + 1, 0)
    assert stage.add(PID + 1, 0) is None


@pytest.mark.parametrize(
    ("producer_id", "epoch", "wanted", "missing"),
    [
        (PID, 0, {ORDERS}, set()),
        (PID, 0, {ORDERS, TopicPartition("other", 1)}, {TopicPartition("other", 1)}),
        (PID, 0, set(), set()),
    ],
)
def test_partitions_that_were_not_added_are_missing(
    producer_id: int, epoch: int, wanted: set[TopicPartition], missing: set[TopicPartition]
) -> None:
    producer = ProducerIdentity(producer_id, epoch)
    assert _open().machine.missing(ID, producer, wanted) == missing


def test_a_transaction_ends_only_once_by_its_markers() -> None:
    stage = _open()
    stage.end(PID, 0, is_commit=True)
    told = list(stage.markers)
    stage.finish()
    records = len(stage.journal.records)
    stage.markers = told
    stage.finish()
    assert len(stage.journal.records) == records


def test_markers_that_could_not_be_written_are_tried_again() -> None:
    stage = _open()
    stage.end(PID, 0, is_commit=True)
    stage.fail_markers()
    assert stage.markers == []
    stage.scheduler.pass_time(100)
    ((told, is_again),) = stage.markers
    assert (told, is_again) == (stage.known, True)
    stage.finish()
    assert stage.state is COMPLETE_COMMIT


def test_nothing_happens_when_the_log_does_not_take_the_decision() -> None:
    stage = _open()
    stage.journal.refusal = KafkaStorageError()
    assert stage.end(PID, 0, is_commit=True) == ErrorCode.NOT_COORDINATOR
    assert (stage.state, stage.markers) == (ONGOING, [])
    assert stage.end(PID, 0, is_commit=True) == (PID, 0)


def test_markers_are_written_only_when_the_decision_is_durable() -> None:
    stage = _open()
    stage.journal.is_slow = True
    answered = stage.shard.submit(EndTransaction(ID, ProducerIdentity(PID, 0), is_commit=True))
    assert not answered.done
    assert stage.markers == []
    stage.journal.catch_up()
    assert answered.value == (PID, 0)
    assert len(stage.markers) == 1


def test_a_transaction_is_aborted_as_soon_as_its_time_is_over() -> None:
    stage = _open()
    stage.scheduler.pass_time(TIMEOUT_MS)
    assert stage.state is ONGOING
    stage.scheduler.pass_time(1)
    assert (stage.state, stage.known.epoch) == (PREPARE_ABORT, 1)
    assert stage.end(PID, 0, is_commit=True) == FENCED
    stage.finish()
    # The same producer may go on with the epoch that fenced it (KIP-588).
    assert stage.init(PID, 0) == (PID, 1)


def test_timeouts_are_looked_for_only_while_something_is_open() -> None:
    stage = Stage()
    stage.init()
    idle = len(stage.scheduler.timers)
    stage.add(PID, 0)
    assert len(stage.scheduler.timers) == idle + 1
    stage.end(PID, 0, is_commit=True)
    stage.finish()
    stage.scheduler.pass_time(SWEEP_MS)
    assert len(stage.scheduler.timers) == idle


def test_a_timeout_that_cannot_be_written_comes_again() -> None:
    stage = _open()
    stage.scheduler.pass_time(TIMEOUT_MS)
    stage.journal.refusal = KafkaStorageError()
    stage.scheduler.pass_time(SWEEP_MS)
    assert stage.state is ONGOING
    stage.scheduler.pass_time(SWEEP_MS)
    assert stage.state is PREPARE_ABORT


@pytest.mark.parametrize("state", list(TransactionState)[:6])
def test_an_id_is_forgotten_when_nobody_used_it_for_long(state: TransactionState) -> None:
    stage = _open(transactional_id_expiration_ms=7_200_000)
    stage.end(PID, 0, is_commit=True)
    stage.finish()
    stage.force(state=state)
    stage.scheduler.pass_time(7_100_000)
    assert ID in stage.machine.transactions
    stage.scheduler.pass_time(3_600_000)
    is_at_rest = state in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
    assert (ID in stage.machine.transactions) is not is_at_rest
    if is_at_rest:
        assert stage.add(PID, 0) == STRANGER
        assert stage.init() == (PID + 1, 0)


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
def test_what_was_ending_is_finished_after_a_restart(state: TransactionState) -> None:
    stage = _open()
    stage.end(PID, 0, is_commit=state is PREPARE_COMMIT)
    stage.restart()
    ((told, is_again),) = stage.markers
    assert (told.state, is_again) == (state, True)
    assert told.partitions == {ORDERS, BILLS}
    stage.finish()
    assert stage.state is (COMPLETE_COMMIT if state is PREPARE_COMMIT else COMPLETE_ABORT)


def test_what_was_open_times_out_after_a_restart() -> None:
    stage = _open()
    stage.restart()
    assert stage.markers == []
    stage.scheduler.pass_time(TIMEOUT_MS + SWEEP_MS)
    assert stage.state is PREPARE_ABORT


def test_ids_of_producers_are_known_to_be_in_use() -> None:
    stage = _open()
    stage.seen_ids.clear()
    stage.restart()
    assert set(stage.seen_ids) == {PID}


def test_records_of_other_kinds_are_not_ours() -> None:
    stage = _open()
    stage.machine.apply(StoredRecord(b"\0\7unknown", b"value"))
    assert list(stage.machine.transactions) == [ID]


@pytest.mark.parametrize("seed", range(20))
def test_the_log_replayed_is_the_state_that_lived(seed: int) -> None:
    chance, stage = random.Random(seed), Stage(transaction_max_timeout_ms=1000)
    for _ in range(60):
        known = stage.machine.transactions.get(ID)
        identity = known.identity if known else ProducerIdentity(PID, 0)
        version = chance.choice([VERSION_1, VERSION_2])
        deed = chance.randrange(6)
        if deed == 0:
            stage.ask(InitProducer(ID, 1000, chance.choice([None, identity])))
        elif deed == 1:
            wanted = frozenset({chance.choice([ORDERS, BILLS])})
            stage.shard.submit(AddPartitions(ID, identity, wanted, version))
        elif deed == 2:
            is_commit = chance.random() < 0.5
            stage.end(*identity, is_commit=is_commit, client_version=version)
        elif deed == 3:
            stage.finish()
        elif deed == 4:
            stage.fail_markers()
        else:
            stage.scheduler.pass_time(chance.choice([100, 20_000]))
        lived = dict(stage.machine.transactions)
        if chance.random() < 0.2:
            stage.restart()
            assert stage.machine.transactions == lived
