"""A member of a group of the new protocol (KIP-848): what it wants, what it has, in which epoch.

Members are values: the log tells one in two records, and a newer record makes a newer value. The
numbers of the states are those that Kafka stores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from kwire.codec.internal.consumer_group_member import (
    AssignedPartitions,
    AssignmentValue,
    ClassicMemberMetadata,
    ClassicProtocol,
    MemberValue,
    TopicPartitions,
)
from kwire.groups.members import JoinProtocol

JOINS = 0
LEAVES = -1
LEAVES_FOR_NOW = -2
"""The epoch of a static member that will be back: its place and its partitions are kept."""


class IdPartition(NamedTuple):
    """A partition of a topic that is known by its id: a topic made anew is another one."""

    topic_id: bytes
    partition: int


Partitions: TypeAlias = frozenset[IdPartition]
NONE: Partitions = frozenset()

Assigned: TypeAlias = Mapping[IdPartition, int]
"""Partitions that a member has, each with the epoch in which it got it."""


class MemberState(IntEnum):
    STABLE = 0
    """It has all that the target gives it, or the target's epoch is not its own yet."""
    UNREVOKED_PARTITIONS = 1
    """It has to give partitions away before it comes into the next epoch."""
    UNRELEASED_PARTITIONS = 2
    """It is in the target's epoch, and waits for partitions that others have not given away."""
    UNKNOWN = 127
    """A newer broker wrote a state that we do not know."""


class ClassicMember(NamedTuple):
    """What a member said that joined by the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[JoinProtocol, ...]


@dataclass(frozen=True, slots=True)
class ModernMember:
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str | None = None
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicMember | None = None
    epoch: int = JOINS
    previous_epoch: int = -1
    """Accepted once more: the answer that told the newer epoch may have been lost."""
    state: MemberState = MemberState.STABLE
    assigned: Assigned = field(default_factory=dict)
    pending_revocation: Assigned = field(default_factory=dict)

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    @property
    def subscription(self) -> tuple[frozenset[str], str]:
        """What a member may choose; an expression without a character is none."""
        return (self.topics, self.regex or "")

    @property
    def is_away(self) -> bool:
        return self.epoch == LEAVES_FOR_NOW

    def describe(self) -> MemberValue:
        """How the log tells what this member wants."""
        return MemberValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topics),
            subscribed_topic_regex=self.regex or "",
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor,
            classic_member_metadata=_describe_classic(self.classic),
        )

    def describe_assignment(self) -> AssignmentValue:
        """How the log tells what this member has."""
        return AssignmentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_with_epochs(self.assigned),
            partitions_pending_revocation=_with_epochs(self.pending_revocation),
        )

    def with_wishes(self, stored: MemberValue) -> "ModernMember":
        return replace(
            self,
            instance_id=stored.instance_id,
            rack_id=stored.rack_id,
            client_id=stored.client_id,
            client_host=stored.client_host,
            topics=frozenset(stored.subscribed_topic_names),
            regex=stored.subscribed_topic_regex or None,
            rebalance_timeout_ms=stored.rebalance_timeout_ms,
            assignor=stored.server_assignor,
            classic=_read_classic(stored.classic_member_metadata),
        )

    def with_assignment(self, stored: AssignmentValue | None) -> "ModernMember":
        if stored is None:
            stored = AssignmentValue(member_epoch=LEAVES, previous_member_epoch=LEAVES)
        return replace(
            self,
            epoch=stored.member_epoch,
            previous_epoch=stored.previous_member_epoch,
            state=_STATES.get(stored.state, MemberState.UNKNOWN),
            assigned=_read_assigned(stored.assigned_partitions, stored.member_epoch),
            pending_revocation=_read_assigned(
                stored.partitions_pending_revocation, stored.member_epoch
            ),
        )


_STATES = {state.value: state for state in MemberState}


def by_topic(partitions: Iterable[IdPartition]) -> list[TopicPartitions]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        topics.setdefault(topic_id, []).append(partition)
    return [
        TopicPartitions(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in topics.items()
    ]


def from_topics(topics: Iterable[TopicPartitions]) -> Partitions:
    return frozenset(
        IdPartition(topic.topic_id, partition) for topic in topics for partition in topic.partitions
    )


def _with_epochs(assigned: Assigned) -> list[AssignedPartitions]:
    return [
        AssignedPartitions(
            topic_id=topic.topic_id,
            partitions=topic.partitions,
            assignment_epochs=[
                assigned[IdPartition(topic.topic_id, partition)] for partition in topic.partitions
            ],
        )
        for topic in by_topic(assigned)
    ]


def _read_assigned(topics: Iterable[AssignedPartitions], member_epoch: int) -> Assigned:
    """What older brokers stored has no epochs: it counts as assigned in the member's."""
    assigned: dict[IdPartition, int] = {}
    for topic in topics:
        epochs = topic.assignment_epochs or [member_epoch] * len(topic.partitions)
        for partition, epoch in zip(topic.partitions, epochs, strict=False):
            assigned[IdPartition(topic.topic_id, partition)] = epoch
    return assigned


def _describe_classic(classic: ClassicMember | None) -> ClassicMemberMetadata | None:
    if classic is None:
        return None
    return ClassicMemberMetadata(
        session_timeout_ms=classic.session_timeout_ms,
        supported_protocols=[
            ClassicProtocol(name=one.name, metadata=one.metadata) for one in classic.protocols
        ],
    )


def _read_classic(stored: ClassicMemberMetadata | None) -> ClassicMember | None:
    if stored is None or not stored.supported_protocols:
        return None
    protocols = (JoinProtocol(one.name, one.metadata) for one in stored.supported_protocols)
    return ClassicMember(stored.session_timeout_ms, tuple(protocols))
