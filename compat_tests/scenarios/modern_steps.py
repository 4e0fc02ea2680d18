"""What members of the new protocol (KIP-848) ask for: with defaults that work."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from compat_tests.scenarios.group_steps import Membership
from compat_tests.scenarios.play import Accept, Play, Topic
from kwire.codec.apis import CONSUMER_GROUP_DESCRIBE, CONSUMER_GROUP_HEARTBEAT, OFFSET_FETCH
from kwire.codec.messages.consumer_group_heartbeat import HeartbeatTopicPartitions
from kwire.codec.messages.offset_fetch import OffsetFetchGroup, OffsetFetchTopic
from kwire.errors import ErrorCode

JOINS, LEAVES, LEAVES_FOR_NOW = 0, -1, -2


class Owned(NamedTuple):
    """What a member says it has."""

    topic: Topic
    partitions: Sequence[int]


def new_topic(play: Play, noun: str = "topic") -> Topic:
    """A topic that the coordinator of groups knows of, too; in Kafka it learns of it last."""
    topic = play.topic(noun)
    play.arrange(
        CONSUMER_GROUP_HEARTBEAT,
        1,
        until=lambda told: bool(told.assignment.topic_partitions),
        group_id=f"{play.name('looking for')} {noun}",
        member_id="somebody",
        rebalance_timeout_ms=1000,
        subscribed_topic_names=[topic.name],
        topic_partitions=[],
    )
    return topic


class ModernGroup:
    def __init__(self, play: Play, noun: str = "group") -> None:
        self.play = play
        self.group_id = play.name(noun)
        self.epochs: dict[str, int] = {}
        """What each member was told last."""

    def heartbeat(
        self,
        member_id: str,
        epoch: int | None = None,
        *,
        owned: Owned | None = None,
        version: int = 1,
        until: Accept | None = None,
        **changes: Any,
    ) -> Any:
        """A heartbeat that says what has changed, and no more, in the epoch told last."""
        partitions = None
        if owned is not None:
            has = list(owned.partitions)
            partitions = [HeartbeatTopicPartitions(topic_id=owned.topic.topic_id, partitions=has)]
        fields = {
            "group_id": self.group_id,
            "member_id": member_id,
            "member_epoch": self.epochs.get(member_id, 1) if epoch is None else epoch,
            "topic_partitions": partitions,
            **changes,
        }
        told = self.play.ask(CONSUMER_GROUP_HEARTBEAT, version, until=until, **fields)
        if told.error_code == ErrorCode.NONE:
            self.epochs[told.member_id] = told.member_epoch
        return told

    def join(self, member_id: str, *topics: Topic, **changes: Any) -> Any:
        """The first heartbeat, which tells everything."""
        fields = {
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": [topic.name for topic in topics],
            "server_assignor": "range",
            "topic_partitions": [],
            **changes,
        }
        return self.heartbeat(member_id, JOINS, **fields)

    def membership(self, member_id: str, *, ahead: int = 0) -> Membership:
        """Who commits, in the member's epoch or some ahead of it."""
        return Membership(member_id, self.epochs[member_id] + ahead)

    def leave(self, member_id: str, epoch: int = LEAVES, **changes: Any) -> Any:
        return self.heartbeat(member_id, epoch, **changes)

    def describe(self, *, version: int = 1, until: Accept | None = None, **changes: Any) -> Any:
        fields = {"group_ids": [self.group_id], **changes}
        return self.play.ask(CONSUMER_GROUP_DESCRIBE, version, until=until, **fields)

    def until_members(self, count: int) -> Any:
        return self.describe(until=lambda told: len(told.groups[0].members) == count)

    def committed(self, topic: Topic, member_id: str, epoch: int, *, version: int = 9) -> Any:
        asked = OffsetFetchTopic(name=topic.name, topic_id=topic.topic_id, partition_indexes=[0])
        group = OffsetFetchGroup(
            group_id=self.group_id, member_id=member_id, member_epoch=epoch, topics=[asked]
        )
        return self.play.ask(OFFSET_FETCH, version, groups=[group])
