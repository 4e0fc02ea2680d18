"""A group of the new protocol (KIP-848): its epochs, its members, and who is to have what.

Three numbers tell how far a group is. Its epoch counts what changes in members and topics.
The assignment's epoch is the one that the target assignment was made for. A member's own epoch is
the one whose target it works towards. Everything here is told by the log: `apply` alone changes it,
and a copy takes records that are not written yet.
"""

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from kwire.codec.internal import consumer_group as groups
from kwire.codec.internal import consumer_group_member as members
from kwire.codec.internal.consumer_group import StoredTopic
from kwire.codec.internal.versioned import version_of
from kwire.errors import FencedInstanceId, UnknownMemberId
from kwire.groups.modern_members import (
    IdPartition,
    ModernMember,
    Partitions,
    from_topics,
)

_OF_GROUPS = {groups.GROUP_KEY, groups.PARTITION_METADATA_KEY, groups.TARGET_METADATA_KEY}
_OF_MEMBERS = {members.MEMBER_KEY, members.TARGET_KEY, members.ASSIGNMENT_KEY}
KEY_VERSIONS = frozenset({*_OF_GROUPS, *_OF_MEMBERS, groups.REGULAR_EXPRESSION_KEY})

FIRST_EPOCH = 1
"""Above the epoch in which members join: one that was answered is never in that any longer."""
NEVER_LOOKED = -1
NO_ASSIGNMENT = -1


class ModernState(Enum):
    """The values are the names clients are told."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class KnownTopic(NamedTuple):
    """A topic as it was when the group was last assigned."""

    topic_id: bytes
    partition_count: int


class ModernGroup:
    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.assignment_epoch = 0
        self.topics: dict[str, KnownTopic] = {}
        """Those that somebody is subscribed to, as far as they exist."""
        self.members: dict[str, ModernMember] = {}
        self.targets: dict[str, Partitions] = {}
        self.matches: dict[str, frozenset[str]] = {}
        """The topics that each regular expression matches."""
        self.seen_version = NEVER_LOOKED
        """Which version of the cluster's image was last looked at; only memory knows this."""
        self.asked_to_join: set[str] = set()
        """Classic members that were told to join again; only memory knows this too."""
        self._static: dict[str, str] = {}
        self._owners: dict[IdPartition, str] = {}

    def copy(self) -> "ModernGroup":
        other = ModernGroup(self.group_id)
        other.epoch, other.assignment_epoch = self.epoch, self.assignment_epoch
        other.seen_version, other.asked_to_join = self.seen_version, self.asked_to_join
        for name in ("topics", "members", "targets", "matches", "_static", "_owners"):
            setattr(other, name, getattr(self, name).copy())
        return other

    @property
    def state(self) -> ModernState:
        if not self.members:
            return ModernState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ModernState.ASSIGNING
        is_done = all(one.is_reconciled_to(self.assignment_epoch) for one in self.members.values())
        return ModernState.STABLE if is_done else ModernState.RECONCILING

    def member(self, member_id: str) -> ModernMember:
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId(f"Member {member_id} is not a member of group {self.group_id}.")
        return member

    def static_member(self, instance_id: str) -> ModernMember | None:
        """Who holds a static member's place."""
        holder = self._static.get(instance_id)
        return None if holder is None else self.members[holder]

    def check(self, member_id: str, instance_id: str | None) -> ModernMember:
        """The member, unless it is unknown or another one has taken its static place."""
        if instance_id is None:
            return self.member(member_id)
        holder = self.static_member(instance_id)
        if holder is None:
            raise UnknownMemberId(f"Instance id {instance_id} is unknown.")
        if holder.member_id != member_id:
            raise FencedInstanceId(
                f"Static member {member_id} with instance id {instance_id}"
                f" was fenced by member {holder.member_id}."
            )
        return holder

    def is_free(self, partition: IdPartition) -> bool:
        """Whether no member has it, not even one that is about to give it away."""
        return partition not in self._owners

    def topics_of(self, member: ModernMember) -> frozenset[str]:
        """What a member wants to read, by name and by its regular expression."""
        if not member.regex:
            return member.topics
        return member.topics | self.matches.get(member.regex, frozenset())

    def subscribed_topics(self) -> set[str]:
        return {topic for member in self.members.values() for topic in self.topics_of(member)}

    def assignor(self, default: str) -> str:
        """The one that most members name; of equals the one named first."""
        votes = Counter(one.assignor for one in self.members.values() if one.assignor)
        return votes.most_common(1)[0][0] if votes else default

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Take over one record of this group, but for its end."""
        version = version_of(key)
        if version == groups.GROUP_KEY:
            self.epoch = FIRST_EPOCH if value is None else groups.read_group(value)
        elif version == groups.PARTITION_METADATA_KEY:
            self.topics = {} if value is None else _read_topics(value)
        elif version == groups.TARGET_METADATA_KEY:
            self.assignment_epoch = (
                NO_ASSIGNMENT if value is None else groups.read_target_metadata(value)
            )
        elif version == groups.REGULAR_EXPRESSION_KEY:
            self._apply_match(groups.read_regular_expression_key(key).regular_expression, value)
        else:
            self._apply_member(version, members.read_key(key).member_id, value)

    def _apply_match(self, regex: str, value: bytes | None) -> None:
        if value is None:
            self.matches.pop(regex, None)
        else:
            self.matches[regex] = frozenset(groups.read_regular_expression(value).topics)

    def _apply_member(self, version: int, member_id: str, value: bytes | None) -> None:
        if version == members.TARGET_KEY:
            if value is None:
                self.targets.pop(member_id, None)
            else:
                self.targets[member_id] = from_topics(members.read_target(value))
        elif version == members.ASSIGNMENT_KEY:
            known = self.members.get(member_id)
            if known is not None or value is not None:
                stored = None if value is None else members.read_assignment(value)
                self._move((known or ModernMember(member_id)).with_assignment(stored))
        elif value is None:
            self._remove(member_id)
        else:
            known = self.members.get(member_id) or ModernMember(member_id)
            self._put(known.with_wishes(members.read_member(value)))

    def _move(self, member: ModernMember) -> None:
        """A member has other partitions than before."""
        before = self.members.get(member.member_id)
        if before is not None:
            self._release(before)
        self.members[member.member_id] = member
        for partition in (*member.assigned, *member.pending_revocation):
            self._owners[partition] = member.member_id

    def _put(self, member: ModernMember) -> None:
        """A member wants something else than before."""
        before = self.members.get(member.member_id)
        if before is not None and before.instance_id is not None:
            self._static.pop(before.instance_id, None)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self._static[member.instance_id] = member.member_id

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None:
            self._release(member)
            if member.instance_id and self._static.get(member.instance_id) == member_id:
                del self._static[member.instance_id]

    def _release(self, member: ModernMember) -> None:
        for partition in (*member.assigned, *member.pending_revocation):
            if self._owners.get(partition) == member.member_id:
                del self._owners[partition]


def group_of(key: bytes) -> str:
    """The id of the group that a record is about."""
    version = version_of(key)
    if version in _OF_GROUPS:
        return groups.read_key(key)
    if version == groups.REGULAR_EXPRESSION_KEY:
        return groups.read_regular_expression_key(key).group_id
    return members.read_key(key).group_id


def describe_topics(topics: dict[str, KnownTopic]) -> bytes:
    """How the log tells the topics of a group."""
    stored: Iterable[StoredTopic] = (
        StoredTopic(topic_id=one.topic_id, topic_name=name, num_partitions=one.partition_count)
        for name, one in sorted(topics.items())
    )
    return groups.write_partition_metadata(list(stored))


def _read_topics(value: bytes) -> dict[str, KnownTopic]:
    return {
        one.topic_name: KnownTopic(one.topic_id, one.num_partitions)
        for one in groups.read_partition_metadata(value)
    }
