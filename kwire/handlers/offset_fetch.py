"""OffsetFetch: how far groups have read.

Up to version 7 a request names one group, from 8 on many; an answer for many is made of the same
parts. Version 1 has no error for a group as a whole: it stands on every partition, lest a client
take "still loading" for "nothing committed" and start over.
"""

from collections.abc import Mapping

from kwire.codec.internal.offsets import CommittedOffset
from kwire.codec.messages.offset_fetch import (
    OffsetFetchGroup,
    OffsetFetchGroupResponse,
    OffsetFetchPartitionResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    OffsetFetchTopicResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.groups import Groups
from kwire.handlers.context import RequestContext
from kwire.types import ZERO_UUID, TopicPartition

FIRST_VERSION_WITH_GROUP_ERROR = 2
FIRST_VERSION_WITH_MANY_GROUPS = 8
FIRST_VERSION_WITH_TOPIC_IDS = 10
NOTHING_COMMITTED = -1


def handle(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    return _respond(ctx, [_fetch(ctx, asked, request) for asked in _asked(ctx, request)])


def refuse(
    ctx: RequestContext, request: OffsetFetchRequest, code: ErrorCode
) -> OffsetFetchResponse:
    return _respond(ctx, [_refuse_group(ctx, asked, code) for asked in _asked(ctx, request)])


def _asked(ctx: RequestContext, request: OffsetFetchRequest) -> list[OffsetFetchGroup]:
    if ctx.version >= FIRST_VERSION_WITH_MANY_GROUPS:
        return request.groups
    return [OffsetFetchGroup(group_id=request.group_id, topics=request.topics)]


def _respond(ctx: RequestContext, groups: list[OffsetFetchGroupResponse]) -> OffsetFetchResponse:
    if ctx.version >= FIRST_VERSION_WITH_MANY_GROUPS:
        return OffsetFetchResponse(groups=groups)
    (one,) = groups
    return OffsetFetchResponse(topics=one.topics, error_code=one.error_code)


def _refuse_group(
    ctx: RequestContext, asked: OffsetFetchGroup, code: ErrorCode
) -> OffsetFetchGroupResponse:
    topics = [] if ctx.version >= FIRST_VERSION_WITH_GROUP_ERROR else asked.topics or []
    return OffsetFetchGroupResponse(
        group_id=asked.group_id,
        error_code=code,
        topics=[_refuse_topic(topic, code) for topic in topics],
    )


def _fetch(
    ctx: RequestContext, asked: OffsetFetchGroup, request: OffsetFetchRequest
) -> OffsetFetchGroupResponse:
    try:
        groups = ctx.node.groups.reading(asked.group_id)
        groups.modern.check_fetch(asked.group_id, asked.member_id, asked.member_epoch)
    except KwireError as refusal:
        return _refuse_group(ctx, asked, refusal.code)
    reader = _Reader(ctx, groups, asked.group_id, is_careful=request.require_stable)
    topics = reader.all_topics() if asked.topics is None else reader.topics(asked.topics)
    return OffsetFetchGroupResponse(group_id=asked.group_id, topics=topics)


class _Reader:
    """Reads the offsets of one group for one request."""

    def __init__(
        self, ctx: RequestContext, groups: Groups, group_id: str, *, is_careful: bool
    ) -> None:
        self._image = ctx.node.controller.image
        self._has_ids = ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS
        self._offsets = groups.offsets
        self._group_id = group_id
        self._is_careful = is_careful
        """Whether what a transaction may still change is withheld (KIP-447)."""
        self._committed: Mapping[TopicPartition, CommittedOffset] = groups.offsets.of(group_id)

    def all_topics(self) -> list[OffsetFetchTopicResponse]:
        """Everything the group has committed; by id only what still has one."""
        indexes: dict[str, list[int]] = {}
        for topic, index in self._committed:
            indexes.setdefault(topic, []).append(index)
        answers = []
        for topic, of_topic in indexes.items():
            image = self._image.topics.get(topic)
            topic_id = ZERO_UUID if image is None else image.topic_id
            if image is not None or not self._has_ids:
                answers.append(self._topic(topic, topic_id, of_topic))
        return answers

    def topics(self, asked: list[OffsetFetchTopic]) -> list[OffsetFetchTopicResponse]:
        return [self._asked_topic(topic) for topic in asked]

    def _asked_topic(self, topic: OffsetFetchTopic) -> OffsetFetchTopicResponse:
        if not self._has_ids:
            return self._topic(topic.name, ZERO_UUID, topic.partition_indexes)
        image = self._image.topic_by_id(topic.topic_id)
        if image is None:
            return _refuse_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)
        return self._topic(image.name, topic.topic_id, topic.partition_indexes)

    def _topic(self, name: str, topic_id: bytes, indexes: list[int]) -> OffsetFetchTopicResponse:
        return OffsetFetchTopicResponse(
            name=name,
            topic_id=topic_id,
            partitions=[self._partition(TopicPartition(name, index)) for index in indexes],
        )

    def _partition(self, partition: TopicPartition) -> OffsetFetchPartitionResponse:
        if self._is_careful and self._offsets.is_unstable(self._group_id, partition):
            return _nothing(partition.partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        committed = self._committed.get(partition)
        if committed is None:
            return _nothing(partition.partition, ErrorCode.NONE)
        return OffsetFetchPartitionResponse(
            partition_index=partition.partition,
            committed_offset=committed.offset,
            committed_leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
        )


def _refuse_topic(topic: OffsetFetchTopic, code: ErrorCode) -> OffsetFetchTopicResponse:
    return OffsetFetchTopicResponse(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[_nothing(index, code) for index in topic.partition_indexes],
    )


def _nothing(index: int, code: ErrorCode) -> OffsetFetchPartitionResponse:
    return OffsetFetchPartitionResponse(
        partition_index=index, committed_offset=NOTHING_COMMITTED, metadata="", error_code=code
    )
