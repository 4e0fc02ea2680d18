"""A group of the new protocol while a command is decided: as it will be once the log has it all.

A decision's records are applied only when they are durable, but what is decided next depends on
them: the target assignment on the members, a member's assignment on the target. So each record is
applied to a copy at once. Nothing is copied for a heartbeat that changes nothing.
"""

import logging

from kwire.codec.internal import consumer_group as groups
from kwire.codec.internal import consumer_group_member as members
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import Decision, TimerKey
from kwire.errors import InvalidRegularExpression
from kwire.groups.assignors import ASSIGNORS, Subscriber
from kwire.groups.commands import SessionOver
from kwire.groups.modern import KnownTopic, ModernGroup, describe_topics
from kwire.groups.modern_members import NONE, ModernMember, Partitions, by_topic
from kwire.groups.rebalance import session_timer
from kwire.groups.topic_patterns import pattern

_log = logging.getLogger(__name__)


class Draft:
    def __init__(
        self,
        group: ModernGroup,
        config: BrokerConfig,
        image: ClusterImage,
        decision: Decision,
        now_ms: int,
    ) -> None:
        self.group = group
        self.config = config
        self.image = image
        self.decision = decision
        self.now_ms = now_ms
        self._original = group

    def store_member(self, member: ModernMember) -> None:
        """What a member wants."""
        key = self._member_key(members.MEMBER_KEY, member.member_id)
        self._write(key, members.write_member(member.describe()))

    def store_assignment(self, member: ModernMember) -> None:
        """What a member has, and how far it is."""
        key = self._member_key(members.ASSIGNMENT_KEY, member.member_id)
        self._write(key, members.write_assignment(member.describe_assignment()))

    def store_target(self, member_id: str, target: Partitions) -> None:
        """What a member is to have."""
        key = self._member_key(members.TARGET_KEY, member_id)
        self._write(key, members.write_target(by_topic(target)))

    def store_target_epoch(self, epoch: int) -> None:
        self._write(self._key(groups.TARGET_METADATA_KEY), groups.write_target_metadata(epoch))

    def store_epoch(self, epoch: int) -> None:
        self._write(self._key(groups.GROUP_KEY), groups.write_group(epoch))

    def bump_epoch(self) -> None:
        """Something changed: there has to be a new target assignment."""
        self.store_epoch(self.group.epoch + 1)
        _log.info("group changed group=%s epoch=%d", self.group.group_id, self.group.epoch)

    def remove(self, member_id: str) -> None:
        """Take a member out, and let go of everything that it had."""
        for kind in (members.ASSIGNMENT_KEY, members.TARGET_KEY, members.MEMBER_KEY):
            self._write(self._member_key(kind, member_id), None)
        for timer in member_timers(self.group.group_id, member_id):
            self.decision.stop_timer(timer)

    def delete_group(self) -> None:
        """Let the log forget the group, from its members up."""
        group = self.group
        for member_id in {**group.members, **dict.fromkeys(group.targets)}:
            self.remove(member_id)
        for regex in group.matches:
            self._write(groups.write_regular_expression_key(group.group_id, regex), None)
        for kind in (groups.TARGET_METADATA_KEY, groups.PARTITION_METADATA_KEY, groups.GROUP_KEY):
            self._write(self._key(kind), None)

    def restart_session(self, member: ModernMember) -> None:
        timeout_ms = self.config.group_consumer_session_timeout_ms
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        group_id = self.group.group_id
        self.decision.start_timer(
            session_timer(group_id, member.member_id),
            timeout_ms,
            SessionOver(group_id, member.member_id),
        )

    @property
    def is_outdated(self) -> bool:
        """Whether the cluster may have changed since this group last looked at it."""
        return self.group.seen_version != self.image.version

    def look_at_topics(self) -> bool:
        """Store what the group's topics are now; says whether that is different from before."""
        self._match_topics()
        image = self.image.topics
        topics = {
            name: KnownTopic(image[name].topic_id, len(image[name].partitions))
            for name in self.group.subscribed_topics()
            if name in image
        }
        if topics == self.group.topics:
            # A look that led to a write is repeated: nobody knows yet if the log takes it.
            if self.group is self._original:
                self._original.seen_version = self.image.version
            return False
        self._write(self._key(groups.PARTITION_METADATA_KEY), describe_topics(topics))
        return True

    def assign(self) -> None:
        """Make a new target assignment for the group's epoch; only what differs is stored."""
        group = self.group
        name = group.assignor(self.config.group_consumer_assignors[0])
        ids = {topic: known.topic_id for topic, known in group.topics.items()}
        subscribers = {
            member_id: Subscriber(
                frozenset(ids[topic] for topic in group.topics_of(member) if topic in ids),
                member.instance_id,
                group.targets.get(member_id, NONE),
            )
            for member_id, member in group.members.items()
        }
        counts = {known.topic_id: known.partition_count for known in group.topics.values()}
        for member_id, target in ASSIGNORS[name](subscribers, counts).items():
            if target != group.targets.get(member_id):
                self.store_target(member_id, target)
        self.store_target_epoch(group.epoch)

    def _match_topics(self) -> None:
        """Store which topics each regular expression matches, as far as somebody uses it."""
        group_id = self.group.group_id
        used = {one.regex for one in self.group.members.values() if one.regex}
        for regex in sorted(used):
            try:
                topics = pattern(regex).among(self.image.topics)
            except InvalidRegularExpression:
                # It was stored by a broker that reads more than we do: what that found stays.
                continue
            if topics != self.group.matches.get(regex):
                key = groups.write_regular_expression_key(group_id, regex)
                value = groups.write_regular_expression(
                    sorted(topics), self.image.version, self.now_ms
                )
                self._write(key, value)
        for regex in sorted(self.group.matches.keys() - used):
            self._write(groups.write_regular_expression_key(group_id, regex), None)

    def _write(self, key: bytes, value: bytes | None) -> None:
        if self.group is self._original:
            self.group = self._original.copy()
        self.group.apply(key, value)
        self.decision.write(key, value)

    def _key(self, kind: int) -> bytes:
        return groups.write_key(kind, self.group.group_id)

    def _member_key(self, kind: int, member_id: str) -> bytes:
        return members.write_key(kind, self.group.group_id, member_id)


def revocation_timer(group_id: str, member_id: str) -> TimerKey:
    """A member of the new protocol has to give partitions away."""
    return ("revocation", group_id, member_id)


def join_timer(group_id: str, member_id: str) -> TimerKey:
    """A member of the classic protocol has to join again."""
    return ("join", group_id, member_id)


def sync_timer(group_id: str, member_id: str) -> TimerKey:
    """A member of the classic protocol has to ask for its assignment."""
    return ("sync", group_id, member_id)


def downgrade_timer(group_id: str) -> TimerKey:
    """A group has none but classic members any longer."""
    return ("downgrade", group_id)


def member_timers(group_id: str, member_id: str) -> tuple[TimerKey, ...]:
    timers = (session_timer, revocation_timer, join_timer, sync_timer)
    return tuple(timer(group_id, member_id) for timer in timers)
