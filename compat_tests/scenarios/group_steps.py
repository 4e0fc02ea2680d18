"""What members of a classic group, and its administrators, ask for: with defaults that work."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from compat_tests.bad_input.wire import array, blob, i16, i32, text
from compat_tests.scenarios.play import Accept, Parked, Play, Topic
from kwire.codec.apis import (
    DELETE_GROUPS,
    DESCRIBE_GROUPS,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_DELETE,
    OFFSET_FETCH,
    SYNC_GROUP,
)
from kwire.codec.messages.join_group import JoinGroupProtocol
from kwire.codec.messages.leave_group import LeaveGroupMember
from kwire.codec.messages.offset_commit import OffsetCommitPartition, OffsetCommitTopic
from kwire.codec.messages.offset_delete import OffsetDeletePartition, OffsetDeleteTopic
from kwire.codec.messages.offset_fetch import OffsetFetchGroup, OffsetFetchTopic
from kwire.codec.messages.sync_group import SyncGroupAssignment
from kwire.errors import ErrorCode

Protocols = Sequence[tuple[str, bytes]]


def subscription(*topics: str) -> bytes:
    """What a consumer tells of itself: version 0, its topics, no data of its own."""
    return i16(0) + array(*map(text, topics)) + blob(None)


def assignment(topic: str, *partitions: int) -> bytes:
    """What a consumer's leader hands out: version 0, one topic, no data of its own."""
    return i16(0) + array(text(topic) + array(*map(i32, partitions))) + blob(None)


RANGE: Protocols = (("range", subscription()),)
CHANGED: Protocols = (("range", subscription("more")),)


class Membership(NamedTuple):
    member_id: str
    generation: int
    instance_id: str | None = None


class Group:
    def __init__(self, play: Play, noun: str = "group") -> None:
        self.play = play
        self.group_id = play.name(noun)

    def join(self, member_id: str = "", *, version: int = 9, **changes: Any) -> Any:
        return self.play.ask(JOIN_GROUP, version, **self._joining(member_id, **changes))

    def join_later(self, member_id: str = "", *, version: int = 9, **changes: Any) -> Parked:
        return self.play.ask_later(JOIN_GROUP, version, **self._joining(member_id, **changes))

    def _joining(
        self,
        member_id: str,
        *,
        instance: str | None = None,
        protocols: Protocols = RANGE,
        **changes: Any,
    ) -> dict[str, Any]:
        offered = [JoinGroupProtocol(name=name, metadata=data) for name, data in protocols]
        return {
            "group_id": self.group_id,
            "member_id": member_id,
            "group_instance_id": instance,
            "session_timeout_ms": 30_000,
            "rebalance_timeout_ms": 10_000,
            "protocol_type": "consumer",
            "protocols": offered,
            **changes,
        }

    def sync(
        self,
        member: Membership,
        assignments: Mapping[str, bytes] | None = None,
        *,
        version: int = 5,
        **changes: Any,
    ) -> Any:
        return self.play.ask(SYNC_GROUP, version, **self._syncing(member, assignments, **changes))

    def sync_later(self, member: Membership, *, version: int = 5) -> Parked:
        return self.play.ask_later(SYNC_GROUP, version, **self._syncing(member, None))

    def _syncing(
        self, member: Membership, assignments: Mapping[str, bytes] | None, **changes: Any
    ) -> dict[str, Any]:
        handed_in = (assignments or {}).items()
        return {
            "group_id": self.group_id,
            "member_id": member.member_id,
            "generation_id": member.generation,
            "group_instance_id": member.instance_id,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [SyncGroupAssignment(member_id=m, assignment=a) for m, a in handed_in],
            **changes,
        }

    def heartbeat(
        self, member: Membership, *, version: int = 4, until: Accept | None = None
    ) -> Any:
        return self.play.ask(
            HEARTBEAT,
            version,
            until=until,
            group_id=self.group_id,
            member_id=member.member_id,
            generation_id=member.generation,
            group_instance_id=member.instance_id,
        )

    def until_rebalancing(self, member: Membership) -> Any:
        """Send heartbeats until one says that the others are joining."""
        return self.heartbeat(member, until=_code(ErrorCode.REBALANCE_IN_PROGRESS))

    def leave(self, *members: tuple[str, str | None], version: int = 5) -> Any:
        leaving = [LeaveGroupMember(member_id=m, group_instance_id=i) for m, i in members]
        return self.play.ask(LEAVE_GROUP, version, group_id=self.group_id, members=leaving)

    def describe(self, *, version: int = 6, until: Accept | None = None, **changes: Any) -> Any:
        return self.play.ask(
            DESCRIBE_GROUPS, version, until=until, groups=[self.group_id], **changes
        )

    def until_state(self, state: str) -> Any:
        return self.describe(until=lambda told: bool(told.groups[0].group_state == state))

    def delete(self, *, version: int = 2) -> Any:
        return self.play.ask(DELETE_GROUPS, version, groups_names=[self.group_id])

    def commit(
        self,
        topic: Topic,
        *,
        member: Membership | None = None,
        version: int = 9,
        offset: int = 5,
        partition: int = 0,
        metadata: str | None = "note",
    ) -> Any:
        committed = OffsetCommitPartition(
            partition_index=partition,
            committed_offset=offset,
            committed_leader_epoch=0,
            committed_metadata=metadata,
        )
        of_topic = OffsetCommitTopic(
            name=topic.name, topic_id=topic.topic_id, partitions=[committed]
        )
        who = member or Membership("", -1)
        return self.play.ask(
            OFFSET_COMMIT,
            version,
            group_id=self.group_id,
            generation_id_or_member_epoch=who.generation,
            member_id=who.member_id,
            group_instance_id=who.instance_id,
            topics=[of_topic],
        )

    def committed(
        self, *topics: Topic, version: int = 9, partitions: Sequence[int] = (0,), **changes: Any
    ) -> Any:
        """What the group has committed in these topics, or in all of them if none is named."""
        asked = [
            OffsetFetchTopic(
                name=one.name, topic_id=one.topic_id, partition_indexes=list(partitions)
            )
            for one in topics
        ] or None
        if version < 8:
            changes.update(group_id=self.group_id, topics=asked)
        else:
            changes.update(groups=[OffsetFetchGroup(group_id=self.group_id, topics=asked)])
        return self.play.ask(OFFSET_FETCH, version, **changes)

    def forget(self, *topics: Topic, partitions: Sequence[int] = (0,)) -> Any:
        named = [
            OffsetDeleteTopic(
                name=topic.name,
                partitions=[OffsetDeletePartition(partition_index=one) for one in partitions],
            )
            for topic in topics
        ]
        return self.play.ask(OFFSET_DELETE, 0, group_id=self.group_id, topics=named)

    def new_member(self, **changes: Any) -> Membership:
        """Join as a client of today does: asked for an id, then with it; alone in the group."""
        told = self.join(**changes)
        joined = self.join(told.member_id, **changes)
        return Membership(joined.member_id, joined.generation_id)

    def static_member(self, instance: str, **changes: Any) -> Membership:
        joined = self.join(instance=instance, **changes)
        return Membership(joined.member_id, joined.generation_id, instance)

    def stable_member(self, **changes: Any) -> Membership:
        """One member, which leads and has its assignment."""
        member = self.new_member(**changes)
        self.sync(member, {member.member_id: b"all"})
        return member

    def stable_static_member(self, instance: str) -> Membership:
        member = self.static_member(instance)
        self.sync(member, {member.member_id: b"all"})
        return member

    def second_member(self, first: Membership) -> tuple[Membership, Membership]:
        """Another one joins: both are in the next generation, nobody has synced. Leader first."""
        told = self.join()
        parked = self.join_later(told.member_id)
        self.until_rebalancing(first)
        again = self.join(first.member_id, instance=first.instance_id)
        joined = parked.answer()
        return (
            first._replace(generation=again.generation_id),
            Membership(joined.member_id, joined.generation_id),
        )

    def third_member(self, first: Membership, second: Membership) -> None:
        """Yet another one joins, and everybody is in the next generation."""
        told = self.join()
        parked = [self.join_later(told.member_id)]
        self.until_rebalancing(first)
        parked.append(self.join_later(second.member_id))
        self.join(first.member_id)
        for each in parked:
            each.answer()

    def stable_pair(self) -> tuple[Membership, Membership]:
        first, second = self.second_member(self.stable_member())
        self.sync(first, {first.member_id: b"one", second.member_id: b"two"})
        self.sync(second)
        return first, second


def _code(code: ErrorCode) -> Accept:
    return lambda told: bool(told.error_code == code)
