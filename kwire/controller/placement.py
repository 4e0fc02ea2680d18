"""Which brokers get the replicas of a partition: chosen here, or chosen elsewhere and checked."""

from collections.abc import Collection, Sequence

from kwire.controller.image import PartitionState
from kwire.errors import InvalidReplicaAssignment, InvalidReplicationFactor


def place(
    brokers: Collection[int], *, first: int, count: int, replication_factor: int
) -> list[tuple[int, ...]]:
    """The replicas of partitions `first`, `first + 1` and so on: round the brokers, in turn."""
    if replication_factor > len(brokers):
        raise InvalidReplicationFactor(
            f"Unable to replicate the partition {replication_factor} time(s): The target"
            f" replication factor of {replication_factor} cannot be reached because only"
            f" {len(brokers)} broker(s) are registered."
        )
    around = sorted(brokers)
    return [
        tuple(around[(index + turn) % len(around)] for turn in range(replication_factor))
        for index in range(first, first + count)
    ]


def check_assignment(
    replicas: Sequence[int], brokers: Collection[int], replication_factor: int | None
) -> None:
    """Refuse replicas that cannot be, or that are more or fewer than the topic's other ones."""
    if not replicas:
        raise InvalidReplicaAssignment(
            "The manual partition assignment includes an empty replica list."
        )
    previous = None
    for broker in sorted(replicas):
        if broker not in brokers:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes broker {broker}, but no such broker is"
                " registered."
            )
        if broker == previous:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes the broker {broker} more than once."
            )
        previous = broker
    if replication_factor is not None and len(replicas) != replication_factor:
        raise InvalidReplicaAssignment(
            f"The manual partition assignment includes a partition with {len(replicas)}"
            " replica(s), but this is not consistent with previous partitions, which have"
            f" {replication_factor} replica(s)."
        )


def new_partition(replicas: Sequence[int], leader_epoch: int = 0) -> PartitionState:
    """All replicas are in sync while there is nothing to read; the first one leads."""
    chosen = tuple(replicas)
    return PartitionState(chosen, isr=chosen, leader=chosen[0], leader_epoch=leader_epoch)
