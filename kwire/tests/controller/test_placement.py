"""Which brokers get which replicas."""

from collections.abc import Sequence

import pytest

from kwire.controller.image import PartitionState
from kwire.controller.placement import check_assignment, new_partition, place
from kwire.errors import InvalidReplicaAssignment, InvalidReplicationFactor


def test_one_broker_gets_everything() -> None:
    assert place([4], first=0, count=3, replication_factor=1) == [(4,), (4,), (4,)]


def test_replicas_go_round_the_brokers_and_new_partitions_go_on_where_the_last_ended() -> None:
    brokers = [3, 1, 2]
    all_at_once = place(brokers, first=0, count=5, replication_factor=2)
    assert all_at_once == [(1, 2), (2, 3), (3, 1), (1, 2), (2, 3)]
    assert place(brokers, first=3, count=2, replication_factor=2) == all_at_once[3:]


def test_more_replicas_than_brokers_are_refused_in_kafkas_words() -> None:
    with pytest.raises(InvalidReplicationFactor) as refused:
        place([1], first=0, count=1, replication_factor=3)
    assert refused.value.message == (
        "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be"
        " reached because only 1 broker(s) are registered."
    )


@pytest.mark.parametrize(
    ("replicas", "words"),
    [
        ([], "The manual partition assignment includes an empty replica list."),
        (
            [1, 7],
            "The manual partition assignment includes broker 7, but no such broker is registered.",
        ),
        ([1, 1], "The manual partition assignment includes the broker 1 more than once."),
        (
            [1],
            "The manual partition assignment includes a partition with 1 replica(s), but this is"
            " not consistent with previous partitions, which have 2 replica(s).",
        ),
    ],
)
def test_an_assignment_that_cannot_be_is_refused_in_kafkas_words(
    replicas: Sequence[int], words: str
) -> None:
    with pytest.raises(InvalidReplicaAssignment) as refused:
        check_assignment(replicas, [1, 2], 2)
    assert refused.value.message == words


def test_the_first_partition_says_how_many_replicas_there_are() -> None:
    check_assignment([2, 1], [1, 2], None)


def test_a_new_partition_is_led_by_its_first_replica_at_epoch_0() -> None:
    assert new_partition([2, 1]) == PartitionState((2, 1), isr=(2, 1), leader=2, leader_epoch=0)
