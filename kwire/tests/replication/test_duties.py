"""What a broker does by the clock."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from kwire.clock import ManualClock
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ImageChange
from kwire.errors import KafkaStorageError
from kwire.log import cleaner
from kwire.log.flush import GroupCommit
from kwire.log.store import LogStore
from kwire.replication.duties import Duties
from kwire.replication.hosted import Hosted
from kwire.replication.partition import Partition
from kwire.tests.builders import A_TIMESTAMP, a_batch
from kwire.tests.handlers.nodes import ManualScheduler
from kwire.tests.replication.images import a_state, a_topic

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS


Begin = Callable[..., Duties]


@pytest.fixture
def begin(
    hosted: Hosted, log_store: LogStore, scheduler: ManualScheduler, clock: ManualClock
) -> Iterator[Begin]:
    """Begin the duties of a broker with some settings."""
    begun: list[Duties] = []

    def begin_with(**settings: Any) -> Duties:
        group_commit = GroupCommit(scheduler, clock.monotonic)
        config = replace(BrokerConfig(), **settings)
        begun.append(Duties(config, hosted, log_store, group_commit, scheduler, clock))
        begun[-1].start()
        return begun[-1]

    yield begin_with
    for one in begun:
        one.stop()


@pytest.fixture
def duties(begin: Begin) -> Duties:
    return begin()


def _host(hosted: Hosted, **config: str) -> Partition:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    hosted.apply(ImageChange(topics=(a_topic(config=settings),)))
    return hosted.find("orders", 0)


def _append(partition: Partition, count: int = 1, **options: Any) -> None:
    for number in range(count):
        if options:
            options["base_sequence"] = number
        partition.append_own(a_batch(1, size_bytes=500, **options))


@pytest.mark.usefixtures("duties")
def test_old_segments_go_and_readers_learn_of_it(
    hosted: Hosted, scheduler: ManualScheduler
) -> None:
    partition = _host(hosted, segment_bytes="1048576", retention_ms="1000")
    _append(partition)
    partition.log.roll()
    _append(partition)
    scheduler.pass_time(31 * SECOND_MS)
    assert partition.log.log_start_offset == 2


def test_retention_comes_when_the_settings_say(
    begin: Begin, hosted: Hosted, scheduler: ManualScheduler
) -> None:
    begin(log_initial_task_delay_ms=2_000, log_retention_check_interval_ms=5_000)
    partition = _host(hosted, retention_ms="1")
    starts = []
    for wait_ms in (1_900, 200, 4_800, 300):
        _append(partition)
        scheduler.pass_time(wait_ms)
        starts.append(partition.log.log_start_offset)
    assert starts == [0, 2, 2, 4]


def test_a_partition_that_cannot_be_cleared_keeps_none_of_the_others(
    duties: Duties,
    hosted: Hosted,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    topic = a_topic("orders", a_state(), a_state(), config={"retention.ms": "1"})
    hosted.apply(ImageChange(topics=(topic,)))
    stuck, other = hosted.find("orders", 0), hosted.find("orders", 1)
    _append(stuck)
    _append(other)
    clock.advance(10)

    def refuse(gone: object) -> None:
        raise KafkaStorageError("no")

    monkeypatch.setattr(stuck.log, "remove_segments", refuse)
    duties.expire()
    assert [stuck.log.log_start_offset, other.log.log_start_offset] == [0, 1]
    assert "retention failed partition=orders-0" in caplog.text


@pytest.mark.usefixtures("duties")
def test_flush_ms_brings_data_to_disk(hosted: Hosted, scheduler: ManualScheduler) -> None:
    partition = _host(hosted, flush_ms="300")
    _append(partition)
    scheduler.pass_time(100)
    assert partition.log.recovery_point == 0
    scheduler.pass_time(400)
    assert partition.log.recovery_point == 1


@pytest.mark.usefixtures("duties")
def test_closed_segments_reach_the_disk_soon(hosted: Hosted, scheduler: ManualScheduler) -> None:
    partition = _host(hosted)
    _append(partition, 3)
    partition.log.roll()
    _append(partition)
    scheduler.pass_time(2 * SECOND_MS)
    assert partition.log.recovery_point == 3


@pytest.mark.usefixtures("duties")
def test_checkpoints_are_written(
    hosted: Hosted, scheduler: ManualScheduler, log_store: LogStore
) -> None:
    partition = _host(hosted)
    _append(partition)
    partition.log.flush()
    scheduler.pass_time(MINUTE_MS + 31 * SECOND_MS)
    text = (log_store.directory / "recovery-point-offset-checkpoint").read_text()
    assert "orders 0 1" in text


@pytest.mark.parametrize(
    "sooner",
    [
        "log_flush_offset_checkpoint_interval_ms",
        "log_flush_start_offset_checkpoint_interval_ms",
    ],
)
def test_the_more_frequent_checkpoint_sets_the_pace(
    begin: Begin, hosted: Hosted, scheduler: ManualScheduler, log_store: LogStore, sooner: str
) -> None:
    begin(log_initial_task_delay_ms=0, **{sooner: 3_000})
    partition = _host(hosted)
    scheduler.pass_time(100)
    _append(partition)
    partition.log.flush()
    checkpoint = log_store.directory / "recovery-point-offset-checkpoint"
    scheduler.pass_time(2_800)
    assert "orders 0 0" in checkpoint.read_text()
    scheduler.pass_time(300)
    assert "orders 0 1" in checkpoint.read_text()


@pytest.mark.usefixtures("duties")
def test_directories_of_deleted_topics_go_after_a_while(
    hosted: Hosted, scheduler: ManualScheduler, log_store: LogStore
) -> None:
    _host(hosted)
    hosted.apply(ImageChange(deleted=(a_topic(),)))
    scheduler.pass_time(50 * SECOND_MS)
    assert any(name.startswith("orders-0") for name in os.listdir(log_store.directory))
    scheduler.pass_time(15 * SECOND_MS)
    assert not any(name.startswith("orders-0") for name in os.listdir(log_store.directory))


@pytest.mark.usefixtures("duties")
def test_silent_producers_are_forgotten(
    hosted: Hosted, scheduler: ManualScheduler, clock: ManualClock
) -> None:
    partition = _host(hosted)
    _append(partition, producer_id=7, producer_epoch=0)
    assert len(partition.log.producers) == 1
    clock.advance(24 * 60 * MINUTE_MS)
    scheduler.pass_time(20 * MINUTE_MS)
    assert clock.now_ms() > A_TIMESTAMP
    assert len(partition.log.producers) == 0


def test_producers_are_forgotten_when_the_settings_say(
    begin: Begin, hosted: Hosted, scheduler: ManualScheduler
) -> None:
    duties = begin(producer_id_expiration_check_interval_ms=1_000)
    partition = _host(hosted)
    _append(partition, producer_id=7, producer_epoch=0)
    scheduler.pass_time(5_000)
    assert len(partition.log.producers) == 1
    duties.reconfigure(replace(BrokerConfig(), producer_id_expiration_ms=4_000))
    scheduler.pass_time(1_000)
    assert len(partition.log.producers) == 0


def test_a_duty_that_fails_is_logged_and_comes_again(
    duties: Duties,
    scheduler: ManualScheduler,
    log_store: LogStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(log_store, "checkpoint", broken)
        scheduler.pass_time(31 * SECOND_MS + 3 * MINUTE_MS)
    assert caplog.text.count("duty failed duty=checkpoint") > 1


def test_nothing_happens_after_the_end(duties: Duties, scheduler: ManualScheduler) -> None:
    duties.stop()
    scheduler.pass_time(0)
    assert scheduler.timers == []


def _host_dirty(hosted: Hosted) -> Partition:
    partition = _host(
        hosted, cleanup_policy="compact", min_cleanable_dirty_ratio="0", segment_bytes="1048576"
    )
    _append(partition, 3)
    partition.log.roll()
    return partition


def _was_compacted(log_store: LogStore) -> bool:
    return (log_store.directory / "cleaner-offset-checkpoint").exists()


def test_compaction_can_be_switched_off(
    begin: Begin, hosted: Hosted, log_store: LogStore, scheduler: ManualScheduler
) -> None:
    begin(log_cleaner_enable=False)
    _host_dirty(hosted)
    scheduler.pass_time(16 * SECOND_MS)
    assert not _was_compacted(log_store)


def test_compaction_sleeps_for_as_long_as_it_is_told_to_now(
    begin: Begin, hosted: Hosted, log_store: LogStore, scheduler: ManualScheduler
) -> None:
    duties = begin(log_cleaner_backoff_ms=1_000)
    duties.reconfigure(replace(BrokerConfig(), log_cleaner_backoff_ms=4_000))
    scheduler.pass_time(1_100)
    _host_dirty(hosted)
    scheduler.pass_time(3_800)
    assert not _was_compacted(log_store)
    scheduler.pass_time(200)
    assert _was_compacted(log_store)


def test_compaction_keeps_to_the_memory_that_it_may_use_now(
    duties: Duties, hosted: Hosted, scheduler: ManualScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    duties.reconfigure(replace(BrokerConfig(), log_cleaner_dedupe_buffer_size=1))
    _host_dirty(hosted)
    with caplog.at_level(logging.INFO):
        scheduler.pass_time(16 * SECOND_MS)
    assert caplog.text.count("compacted topic_partition=orders-0") == 3


def test_compaction_keeps_to_the_pace_that_it_is_told_now(
    begin: Begin, hosted: Hosted, scheduler: ManualScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[float] = []

    class NotedPace(cleaner.Pace):
        def __init__(self, bytes_per_second: float, monotonic: Callable[[], float]) -> None:
            rates.append(bytes_per_second)
            super().__init__(bytes_per_second, monotonic)

    monkeypatch.setattr(cleaner, "Pace", NotedPace)
    duties = begin(log_cleaner_io_max_bytes_per_second=1e8)
    _host_dirty(hosted)
    duties.compact()
    duties.reconfigure(replace(BrokerConfig(), log_cleaner_io_max_bytes_per_second=2e8))
    hosted.find("orders", 0).append_own(a_batch(1))
    hosted.find("orders", 0).log.roll()
    scheduler.pass_time(16 * SECOND_MS)
    assert (rates[0], rates[-1]) == (1e8, 2e8)


def test_compaction_forgets_a_topic_that_was_deleted(
    duties: Duties, hosted: Hosted, log_store: LogStore, scheduler: ManualScheduler
) -> None:
    partition = _host(
        hosted, cleanup_policy="compact", min_cleanable_dirty_ratio="0", segment_bytes="1048576"
    )
    _append(partition, 3)
    partition.log.roll()
    scheduler.pass_time(16 * SECOND_MS)
    checkpoint = log_store.directory / "cleaner-offset-checkpoint"
    assert "orders 0 3" in checkpoint.read_text()
    duties.follow(ImageChange(deleted=(a_topic(),)))
    assert "orders" not in checkpoint.read_text()
