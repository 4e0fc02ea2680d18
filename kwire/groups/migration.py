"""Groups that change their protocol while they have members (KIP-848).

A classic group of consumers becomes one of the new protocol when a first such member joins. The
others stay as they are, each with what it was assigned, and are served as classic members of a
group of the new protocol. When the last member of the new protocol is gone, and only such members
are left, the group becomes classic again. An empty group just takes the protocol of who comes.
"""

from collections.abc import Iterable

from kwire.codec.internal import group_metadata
from kwire.codec.internal.consumer_protocol import (
    PROTOCOL_TYPE,
    NamedPartitions,
    read_assignment,
    read_subscription,
    write_assignment,
)
from kwire.codec.internal.group_metadata import GroupMetadataValue, StoredMember
from kwire.codec.primitives import MalformedMessage
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import Decision
from kwire.errors import ErrorCode, GroupIdNotFound, KwireError
from kwire.groups.classic import ClassicGroup
from kwire.groups.commands import JoinAnswer, SyncAnswer
from kwire.groups.draft import Draft
from kwire.groups.members import Member, Members
from kwire.groups.modern import ModernGroup
from kwire.groups.modern_members import (
    NONE,
    ClassicMember,
    IdPartition,
    ModernMember,
    Partitions,
    by_topic,
)

UPGRADES = ("upgrade", "bidirectional")
DOWNGRADES = ("downgrade", "bidirectional")


def upgrade(classic: ClassicGroup, draft: Draft) -> None:
    """Write a classic group down as one of the new protocol, in the epoch of its generation."""
    draft.decision.write(group_metadata.write_key(classic.group_id), None)
    if not classic.members:
        return
    if not _may_upgrade(classic, draft.config):
        raise GroupIdNotFound(f"Group {classic.group_id} is not a consumer group.")
    try:
        members = [_as_modern(one, classic, draft.image) for one in classic.members]
    except MalformedMessage as error:
        raise GroupIdNotFound(
            f"Group {classic.group_id} cannot be upgraded: the subscription or the assignment of a"
            " member cannot be read."
        ) from error
    for member in members:
        draft.store_member(member)
    draft.look_at_topics()
    draft.store_epoch(classic.generation)
    for member in members:
        draft.store_target(member.member_id, frozenset(member.assigned))
    draft.store_target_epoch(classic.generation)
    for member in members:
        draft.store_assignment(member)
        draft.restart_session(member)


def _may_upgrade(classic: ClassicGroup, config: BrokerConfig) -> bool:
    return (
        config.group_consumer_migration_policy in UPGRADES
        and classic.is_of_consumers
        and len(classic.members) <= config.group_consumer_max_size
    )


def _as_modern(member: Member, classic: ClassicGroup, image: ClusterImage) -> ModernMember:
    subscription = read_subscription(member.metadata_for(classic.protocol_name))
    assigned = owned_by_id(read_assignment(member.assignment), image)
    return ModernMember(
        member.member_id,
        member.instance_id,
        subscription.rack_id,
        member.client_id,
        member.client_host,
        topics=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicMember(member.session_timeout_ms, member.protocols),
        epoch=classic.generation,
        previous_epoch=classic.generation,
        assigned=dict.fromkeys(assigned, classic.generation),
    )


def dismiss(classic: ClassicGroup, decision: Decision) -> None:
    """Whoever waits for the next generation of a group that was upgraded is to join again.

    The timers of that generation run on: they mean nothing to a group that is not classic, and are
    needed if the log does not take the change.
    """
    waiting = [(one.member_id, one.joining, one.syncing) for one in classic.members]
    for member in classic.members:
        classic.members.end_join(member)
        member.syncing = None

    def tell(decision: Decision, code: ErrorCode) -> None:
        for member_id, joining, syncing in waiting:
            if joining is not None:
                decision.answer(joining, JoinAnswer(member_id, code=code))
            if syncing is not None:
                decision.answer(syncing, SyncAnswer(code))

    def tell_refusal(refusal: KwireError) -> Decision:
        refused = Decision()
        tell(refused, refusal.code)
        return refused

    tell(decision, ErrorCode.REBALANCE_IN_PROGRESS)
    decision.if_refused = tell_refusal


def may_downgrade(group: ModernGroup, config: BrokerConfig) -> bool:
    """Whether only classic members are left, and a classic group may have them."""
    return (
        config.group_consumer_migration_policy in DOWNGRADES
        and 0 < len(group.members) <= config.group_max_size
        and all(member.classic is not None for member in group.members.values())
    )


def downgrade(draft: Draft) -> None:
    """Write a group with none but classic members down as a classic one."""
    group = draft.group
    supported = Members()
    for member in group.members.values():
        supported.add(_as_classic(member))
    protocol = supported.choose_protocol()
    stored = GroupMetadataValue(
        protocol_type=PROTOCOL_TYPE,
        generation=group.epoch,
        protocol=protocol,
        leader=supported.leader,
        current_state_timestamp=draft.now_ms,
        members=[
            _stored(
                member,
                supported[member_id].metadata_for(protocol),
                # Its share by the last target, as Kafka does: what it was to give up is gone.
                group.targets.get(member_id, NONE),
                draft.image,
            )
            for member_id, member in group.members.items()
        ],
    )
    draft.delete_group()
    draft.decision.write(
        group_metadata.write_key(group.group_id), group_metadata.write_value(stored)
    )


def _as_classic(member: ModernMember) -> Member:
    assert member.classic is not None
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        protocols=member.classic.protocols,
    )


def _stored(
    member: ModernMember, subscription: bytes, target: Partitions, image: ClusterImage
) -> StoredMember:
    assert member.classic is not None
    return StoredMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.classic.session_timeout_ms,
        subscription=subscription,
        assignment=classic_assignment(target, subscription, image),
    )


def classic_assignment(
    partitions: Iterable[IdPartition], subscription: bytes, image: ClusterImage
) -> bytes:
    """What a member has, as a classic one is told; topics that are gone have no name."""
    assigned = []
    for topic in by_topic(partitions):
        known = image.topic_by_id(topic.topic_id)
        if known is not None:
            assigned.append(NamedPartitions(topic=known.name, partitions=topic.partitions))
    return write_assignment(assigned, subscription)


def owned_by_id(topics: Iterable[NamedPartitions], image: ClusterImage) -> frozenset[IdPartition]:
    """Partitions that a classic member names; those of topics that are gone are nobody's."""
    return frozenset(
        IdPartition(image.topics[one.topic].topic_id, partition)
        for one in topics
        if one.topic in image.topics
        for partition in one.partitions
    )
