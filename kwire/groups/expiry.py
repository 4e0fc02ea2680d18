"""When a committed offset is forgotten.

Offsets count from the time their group lost its last member, so that a group may pause for as long
as `offsets.retention.minutes`. In a group that lives, only offsets of topics that it does not read
any longer count, from their commit; so do all offsets of groups that never had members (KIP-211).
A retention time that a client chose itself (up to OffsetCommit v4) goes before all of that.
"""

from collections.abc import Iterable

from kwire.codec.internal.group_metadata import NO_TIMESTAMP
from kwire.codec.internal.offsets import NO_EXPIRY, CommittedOffset
from kwire.groups.classic import ClassicGroup, GroupState
from kwire.groups.modern import ModernGroup, ModernState
from kwire.groups.offsets import Offsets
from kwire.types import TopicPartition


def expired(
    group: ClassicGroup, offsets: Offsets, *, retention_ms: int, now_ms: int
) -> list[TopicPartition]:
    """The partitions whose offsets this group does not need any longer."""
    if not _may_expire(group):
        return []
    committed = offsets.of(group.group_id)
    subscribed = group.subscribed_among({partition.topic for partition in committed})
    return [
        partition
        for partition, one in committed.items()
        if partition.topic not in subscribed
        and _is_over(group, one, retention_ms, now_ms)
        and not offsets.is_unstable(group.group_id, partition)
    ]


def expired_in_modern(
    group: ModernGroup, offsets: Offsets, *, retention_ms: int, now_ms: int
) -> list[TopicPartition]:
    """The same for a group of the new protocol, where all offsets count from their commit."""
    subscribed = group.subscribed_topics()
    return [
        partition
        for partition, one in offsets.of(group.group_id).items()
        if partition.topic not in subscribed
        and now_ms - one.commit_timestamp >= retention_ms
        and not offsets.is_unstable(group.group_id, partition)
    ]


def is_abandoned(
    group: ClassicGroup | ModernGroup, offsets: Offsets, expired: Iterable[TopicPartition]
) -> bool:
    """Whether nothing is left of a group once these offsets are gone."""
    kept = set(offsets.of(group.group_id)).difference(expired)
    is_idle = not offsets.has_open_transactions(group.group_id)
    is_empty = group.state in (GroupState.EMPTY, ModernState.EMPTY)
    return is_empty and not kept and is_idle


def _may_expire(group: ClassicGroup) -> bool:
    if group.protocol_type is None or group.state is GroupState.EMPTY:
        return True
    return group.state is GroupState.STABLE and group.subscribed_topics() is not None


def _is_over(
    group: ClassicGroup, committed: CommittedOffset, retention_ms: int, now_ms: int
) -> bool:
    if committed.expire_timestamp != NO_EXPIRY:
        return now_ms >= committed.expire_timestamp
    since_ms = committed.commit_timestamp
    if (
        group.protocol_type is not None
        and group.state is GroupState.EMPTY
        and group.since_ms != NO_TIMESTAMP
    ):
        since_ms = group.since_ms
    return now_ms - since_ms >= retention_ms
