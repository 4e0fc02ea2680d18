"""Groups as handlers see them: one door to all shards of this broker.

Refusals come as values, like answers: a command may be refused long after it was given. What
decides them is imported with the first shard: most brokers start without any group.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kwire.clock import Clock
from kwire.config.broker import BrokerConfig
from kwire.controller.commands import NewTopic
from kwire.controller.controller import Controller
from kwire.controller.image import ClusterImage, ImageChange
from kwire.coordinator.decision import Asker, TransactionEnd
from kwire.coordinator.runtime import Runtime
from kwire.errors import ErrorCode, InvalidGroupId, KwireError
from kwire.log.flush import GroupCommit
from kwire.replication.hosted import Hosted
from kwire.tasks import Later, Scheduler, now
from kwire.types import TopicPartition, new_uuid

if TYPE_CHECKING:
    from kwire.groups.commands import (
        Commit,
        ConsumerHeartbeat,
        ConsumerHeartbeatAnswer,
        DeleteGroup,
        DeleteOffsets,
        Heartbeat,
        Join,
        JoinAnswer,
        Leave,
        Sync,
        SyncAnswer,
    )
    from kwire.groups.groups import Groups
    from kwire.groups.transactional import TransactionalCommit

OFFSETS_TOPIC = "__consumer_offsets"


class GroupService:
    def __init__(
        self,
        controller: Controller,
        hosted: Hosted,
        group_commit: GroupCommit,
        scheduler: Scheduler,
        clock: Clock,
        new_id: Callable[[], str] = lambda: dashed(new_uuid()),
    ) -> None:
        config = controller.layers.broker
        self._config = config
        self._controller = controller
        self.topic = _offsets_topic(config)
        """What is made when somebody first asks for a coordinator."""
        self._runtime = Runtime(
            self.topic,
            lambda: _new_groups(config, controller.image, new_id),
            node_id=config.node_id,
            codec=config.offsets_topic_compression_codec,
            piece_bytes=config.offsets_load_buffer_size,
            controller=controller,
            hosted=hosted,
            group_commit=group_commit,
            scheduler=scheduler,
            clock=clock,
        )

    def start(self) -> None:
        """Read what the log knows, and follow the cluster from here on."""
        self._controller.subscribe(self._follow)
        self._runtime.follow(ImageChange(topics=tuple(self._controller.image.topics.values())))

    def stop(self) -> None:
        self._runtime.close()

    def coordinators_of(self, group_ids: Sequence[str]) -> Later[list[int] | KwireError]:
        """The brokers that coordinate these groups."""
        return self._runtime.leaders_of(group_ids)

    def reading(self, group_id: str) -> "Groups":
        """The state that a group is part of; refused where that is elsewhere, or not all there."""
        return self._runtime.shard_of(group_id).machine

    def reading_all(self) -> "Iterator[Groups]":
        """The state of every group that this broker coordinates."""
        for shard in self._runtime:
            yield shard.machine

    def join(self, command: "Join") -> "Later[JoinAnswer | KwireError]":
        """What is wrong with the request itself is told to the member under its own id."""
        from kwire.groups.commands import JoinAnswer

        shortest_ms = self._config.group_min_session_timeout_ms
        longest_ms = self._config.group_max_session_timeout_ms
        if not command.group_id:
            return now(JoinAnswer(command.member_id, code=ErrorCode.INVALID_GROUP_ID))
        if not shortest_ms <= command.session_timeout_ms <= longest_ms:
            return now(JoinAnswer(command.member_id, code=ErrorCode.INVALID_SESSION_TIMEOUT))
        return self._submit(command)

    def sync(self, command: "Sync") -> "Later[SyncAnswer | KwireError]":
        return self._as_member(command)

    def heartbeat(self, command: "Heartbeat") -> Later[ErrorCode | KwireError]:
        return self._as_member(command)

    def leave(self, command: "Leave") -> Later[list[ErrorCode] | KwireError]:
        return self._as_member(command)

    def consumer_heartbeat(
        self, command: "ConsumerHeartbeat"
    ) -> "Later[ConsumerHeartbeatAnswer | KwireError]":
        from kwire.groups.modern_requests import check_request

        try:
            check_request(command, self._config.group_consumer_assignors)
        except KwireError as refusal:
            return now(refusal)
        return self._submit(command)

    def commit(self, command: "Commit") -> Later[list[ErrorCode] | KwireError]:
        """Committing for the group without a name is allowed, as it always was."""
        return self._submit(command)

    def commit_in_transaction(
        self, command: "TransactionalCommit"
    ) -> Later[list[ErrorCode] | KwireError]:
        """Commit for a producer's transaction, whose coordinator knows that it does."""
        if not command.group_id:
            return now(InvalidGroupId())
        return self._submit(command)

    def end_transaction(self, index: int, end: TransactionEnd) -> Later[KwireError | None]:
        """Count or forget what a transaction committed in one partition of the groups' topic."""
        from kwire.groups.transactional import EndTransaction

        try:
            shard = self._runtime.shard_at(index)
        except KwireError as refusal:
            return now(refusal)
        return shard.submit(EndTransaction(end))

    def partition_of(self, group_id: str) -> TopicPartition:
        """Where a group's offsets are written, so that a transaction can end there."""
        return TopicPartition(OFFSETS_TOPIC, self._runtime.index_of(group_id))

    def delete_offsets(self, command: "DeleteOffsets") -> Later[list[ErrorCode] | KwireError]:
        return self._as_member(command)

    def delete_group(self, command: "DeleteGroup") -> Later[KwireError | None]:
        return self._submit(command)

    def _as_member(self, command: "Sync | Heartbeat | Leave | DeleteOffsets") -> Asker:
        """A group with members, or one that an administrator means, has a name."""
        if not command.group_id:
            return now(InvalidGroupId())
        return self._submit(command)

    def _submit(
        self,
        command: "Join | Sync | Heartbeat | Leave | Commit | TransactionalCommit | DeleteOffsets"
        " | DeleteGroup | ConsumerHeartbeat",
    ) -> Asker:
        try:
            shard = self._runtime.shard_of(command.group_id)
        except KwireError as refusal:
            return now(refusal)
        return shard.submit(command)

    def _follow(self, change: ImageChange) -> None:
        self._runtime.follow(change)
        if change.deleted:
            self._forget(frozenset(topic.name for topic in change.deleted))

    def _forget(self, topics: frozenset[str]) -> None:
        for shard in self._runtime:
            from kwire.groups.commands import ForgetTopics

            shard.remind(ForgetTopics(topics))


def dashed(raw: bytes) -> str:
    """An id as Java writes it, and so as members' ids have it in Kafka."""
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _new_groups(config: BrokerConfig, image: ClusterImage, new_id: Callable[[], str]) -> "Groups":
    from kwire.groups.groups import Groups

    return Groups(config, image, new_id)


def _offsets_topic(config: BrokerConfig) -> NewTopic:
    return NewTopic(
        OFFSETS_TOPIC,
        partition_count=config.offsets_topic_num_partitions,
        replication_factor=config.offsets_topic_replication_factor,
        config={
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.offsets_topic_segment_bytes),
        },
    )
