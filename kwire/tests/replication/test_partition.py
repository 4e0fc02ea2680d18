"""One partition as its leader serves it."""

import pytest

from kwire.controller.image import ImageChange
from kwire.errors import (
    FencedLeaderEpoch,
    NotEnoughReplicas,
    TransactionalIdAuthorizationFailed,
    UnknownLeaderEpoch,
)
from kwire.replication.hosted import Hosted
from kwire.replication.partition import ALL_IN_SYNC, Partition
from kwire.replication.waiters import WaitingFetch
from kwire.tests.builders import A_TIMESTAMP, a_batch
from kwire.tests.handlers.nodes import ManualScheduler
from kwire.tests.replication.images import a_state, a_topic


@pytest.fixture
def partition(hosted: Hosted) -> Partition:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    return hosted.find("orders", 0)


def _append(partition: Partition, batch: bytearray, acks: int = 1) -> int:
    appended = partition.append(memoryview(batch), acks=acks, produce_version=9, now_ms=A_TIMESTAMP)
    return appended.base_offset


def _waiting(partition: Partition, scheduler: ManualScheduler, missing_bytes: int = 1) -> list[str]:
    woken: list[str] = []
    WaitingFetch(
        [partition],
        missing_bytes=missing_bytes,
        wait_s=10.0,
        scheduler=scheduler,
        ready=lambda: woken.append("woken"),
    )
    return woken


def test_the_high_watermark_follows_the_end_of_the_log(partition: Partition) -> None:
    assert _append(partition, a_batch(3)) == 0
    assert partition.high_watermark == 3
    assert partition.append_own(a_batch(1)).base_offset == 3
    assert partition.high_watermark == 4


def test_committed_readers_end_where_the_first_open_transaction_begins(
    partition: Partition,
) -> None:
    _append(partition, a_batch(1))
    batch = a_batch(2, producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append_own(batch)
    assert partition.readable_end(read_committed=True) == 1
    assert partition.readable_end(read_committed=False) == 3


@pytest.mark.parametrize("epoch", [-1, 3])
def test_readers_of_our_epoch_or_none_are_welcome(partition: Partition, epoch: int) -> None:
    partition.leader_epoch = 3
    partition.check_leader_epoch(epoch)


def test_readers_of_another_epoch_are_refused(partition: Partition) -> None:
    partition.leader_epoch = 3
    with pytest.raises(FencedLeaderEpoch):
        partition.check_leader_epoch(2)
    with pytest.raises(UnknownLeaderEpoch):
        partition.check_leader_epoch(4)


def test_a_batch_carries_the_epoch_of_the_leader(partition: Partition) -> None:
    partition.leader_epoch = 3
    _append(partition, a_batch(1))
    assert partition.log.leader_epochs.latest == 3


def test_acks_all_needs_enough_replicas_in_sync(partition: Partition) -> None:
    partition.in_sync = ()
    with pytest.raises(NotEnoughReplicas):
        _append(partition, a_batch(1), ALL_IN_SYNC)
    assert _append(partition, a_batch(1), 1) == 0


def test_transactional_batches_of_clients_are_refused(partition: Partition) -> None:
    batch = a_batch(1, producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    with pytest.raises(TransactionalIdAuthorizationFailed):
        _append(partition, batch)
    assert partition.log.next_offset == 0


def test_an_append_wakes_who_waits_once_the_turn_is_over(
    partition: Partition, scheduler: ManualScheduler
) -> None:
    woken = _waiting(partition, scheduler, missing_bytes=150)
    _append(partition, a_batch(1, size_bytes=100))
    scheduler.end_turn()
    assert woken == []
    _append(partition, a_batch(1, size_bytes=100))
    assert woken == []
    _append(partition, a_batch(1, size_bytes=100))
    scheduler.end_turn()
    assert woken == ["woken"]


def test_deleting_records_wakes_who_waits(partition: Partition, scheduler: ManualScheduler) -> None:
    _append(partition, a_batch(3))
    woken = _waiting(partition, scheduler)
    assert partition.delete_records_before(2) == 2
    scheduler.end_turn()
    assert woken == ["woken"]


def test_a_new_leadership_wakes_who_waits_and_the_old_one_does_not(
    partition: Partition, scheduler: ManualScheduler
) -> None:
    woken = _waiting(partition, scheduler)
    partition.follow(a_state())
    scheduler.end_turn()
    assert woken == []
    partition.follow(a_state(leader_epoch=1))
    scheduler.end_turn()
    assert woken == ["woken"]
    assert partition.leader_epoch == 1
