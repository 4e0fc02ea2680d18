"""What a broker does by the clock."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.clock import ManualClock
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ImageChange
from kwire.log.flush import GroupCommit
from kwire.log.store import LogStore
from kwire.replication.duties import Duties
from kwire.replication.hosted import Hosted
from kwire.replication.partition import Partition
from kwire.tests.builders import A_TIMESTAMP, a_batch
from kwire.tests.handlers.nodes import ManualScheduler
from kwire.tests.replication.images import a_topic

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS


@pytest.fixture
def duties(
    hosted: Hosted, log_store: LogStore, scheduler: ManualScheduler, clock: ManualClock
) -> Iterator[Duties]:
    group_commit = GroupCommit(scheduler, clock.monotonic)
    made = Duties(BrokerConfig(), hosted, log_store, group_commit, scheduler, clock)
    made.start()
    yield made
    made.stop()


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
