"""DescribeTopicPartitions: topics by name, a page of partitions at a time.

The pages go through the topics in the order of their names; the cursor of an answer names the first
partition that did not fit, and the next request hands it back.
"""

from kwire.codec.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kwire.controller.image import PartitionState, TopicImage
from kwire.errors import ErrorCode, InvalidRequest
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import TOPIC_OPERATIONS, ClusterView, is_internal, why_missing


def handle(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    names = _names(ctx, request)
    limit = ctx.node.config.max_request_partition_size_limit
    page = _Page(ctx, max(1, min(limit, request.response_partition_limit)))
    for name in names:
        start = 0
        if request.cursor is not None and name == request.cursor.topic_name:
            start = request.cursor.partition_index
        if not page.add(name, start):
            break
    return DescribeTopicPartitionsResponse(topics=page.topics, next_cursor=page.next_cursor)


def refuse(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest, code: ErrorCode
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(error_code=code, name=topic.name)
            for topic in request.topics
        ]
    )


def _names(ctx: RequestContext, request: DescribeTopicPartitionsRequest) -> list[str]:
    """What is left to describe, in order; no topic at all asks for every topic."""
    cursor = request.cursor
    first = "" if cursor is None else cursor.topic_name
    asked = {topic.name for topic in request.topics} or ctx.node.controller.image.topics.keys()
    names = sorted(name for name in asked if name >= first)
    if cursor is not None:
        if request.topics and first not in names:
            raise InvalidRequest(
                "DescribeTopicPartitionsRequest topic list should contain the cursor topic:"
                f" {first}"
            )
        if cursor.partition_index < 0:
            raise InvalidRequest("DescribeTopicPartitionsRequest cursor partition must be valid")
    return names


class _Page:
    """One answer in the making, until it is full."""

    def __init__(self, ctx: RequestContext, limit: int) -> None:
        self.topics: list[DescribeTopicPartitionsResponseTopic] = []
        self.next_cursor: Cursor | None = None
        self._images = ctx.node.controller.image.topics
        self._view = ClusterView(ctx)
        self._remaining = limit

    def add(self, name: str, start: int) -> bool:
        """Take in a topic from partition `start` on; tells whether there may be room for more."""
        if self._remaining == 0:
            self.next_cursor = Cursor(topic_name=name, partition_index=0)
            return False
        topic = self._images.get(name)
        if topic is None:
            self.topics.append(_missing(name))
            return True
        end = min(len(topic.partitions), start + self._remaining)
        self.topics.append(self._described(topic, range(start, end)))
        if end < len(topic.partitions):
            self.next_cursor = Cursor(topic_name=name, partition_index=end)
            return False
        self._remaining -= max(0, end - start)
        return True

    def _described(self, topic: TopicImage, indexes: range) -> DescribeTopicPartitionsResponseTopic:
        online = self._view.online(topic)
        return DescribeTopicPartitionsResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=is_internal(topic.name),
            partitions=[
                self._partition(index, topic.partitions[index], is_online=index in online)
                for index in indexes
            ],
            topic_authorized_operations=TOPIC_OPERATIONS,
        )

    def _partition(
        self, index: int, state: PartitionState, *, is_online: bool
    ) -> DescribeTopicPartitionsResponsePartition:
        offline = self._view.offline_replicas(state, is_online=is_online)
        return DescribeTopicPartitionsResponsePartition(
            partition_index=index,
            leader_id=self._view.leader(state, offline),
            leader_epoch=state.leader_epoch,
            replica_nodes=list(state.replicas),
            isr_nodes=list(state.isr),
            eligible_leader_replicas=[],
            last_known_elr=[],
            offline_replicas=offline,
        )


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=why_missing(name),
        name=name,
        is_internal=is_internal(name),
        topic_authorized_operations=TOPIC_OPERATIONS,
    )
