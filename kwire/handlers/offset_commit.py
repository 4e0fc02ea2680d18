"""OffsetCommit: a group stores how far it has read, partition by partition.

Partitions that do not exist are refused one by one; the others are committed together, or refused
together where the group does not take them.
"""

from kwire.codec.messages.offset_commit import (
    OffsetCommitPartition,
    OffsetCommitPartitionResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    OffsetCommitTopicResponse,
)
from kwire.controller.image import TopicImage
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import Commit, OffsetToCommit
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

LAST_VERSION_WITH_RETENTION = 4
FIRST_VERSION_WITH_NEW_GROUPS = 9
FIRST_VERSION_WITH_TOPIC_IDS = 10
BROKERS_CHOICE = -1

_Pending = list[OffsetCommitPartitionResponse]


def handle(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Later[OffsetCommitResponse]:
    offsets: list[OffsetToCommit] = []
    pending: _Pending = []
    response = OffsetCommitResponse(
        topics=[_check_topic(ctx, topic, offsets, pending) for topic in request.topics]
    )
    if not offsets:
        return response
    command = Commit(
        request.group_id,
        tuple(offsets),
        member_id=request.member_id,
        generation=request.generation_id_or_member_epoch,
        instance_id=request.group_instance_id,
        retention_ms=_retention_ms(ctx, request),
        knows_new_groups=ctx.version >= FIRST_VERSION_WITH_NEW_GROUPS,
    )
    committed = ctx.node.groups.commit(command)
    return committed.map(lambda answer: _respond(response, pending, answer))


def refuse(
    ctx: RequestContext, request: OffsetCommitRequest, code: ErrorCode
) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_refuse_topic(topic, code) for topic in request.topics])


def _check_topic(
    ctx: RequestContext,
    topic: OffsetCommitTopic,
    offsets: list[OffsetToCommit],
    pending: _Pending,
) -> OffsetCommitTopicResponse:
    """Refuse what does not exist, and note down the rest for the group to decide."""
    if ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS:
        image = ctx.node.controller.image.topic_by_id(topic.topic_id)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        image = ctx.node.controller.image.topics.get(topic.name)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if image is None:
        return _refuse_topic(topic, unknown)
    answers = []
    for wanted in topic.partitions:
        answer = OffsetCommitPartitionResponse(partition_index=wanted.partition_index)
        if wanted.partition_index in image.partitions:
            offsets.append(_offset(image, wanted))
            pending.append(answer)
        else:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answers.append(answer)
    return OffsetCommitTopicResponse(name=topic.name, topic_id=topic.topic_id, partitions=answers)


def _refuse_topic(topic: OffsetCommitTopic, code: ErrorCode) -> OffsetCommitTopicResponse:
    return OffsetCommitTopicResponse(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetCommitPartitionResponse(partition_index=one.partition_index, error_code=code)
            for one in topic.partitions
        ],
    )


def _offset(image: TopicImage, wanted: OffsetCommitPartition) -> OffsetToCommit:
    return OffsetToCommit(
        image.name,
        wanted.partition_index,
        wanted.committed_offset,
        wanted.committed_leader_epoch,
        wanted.committed_metadata or "",
    )


def _retention_ms(ctx: RequestContext, request: OffsetCommitRequest) -> int | None:
    if ctx.version > LAST_VERSION_WITH_RETENTION or request.retention_time_ms == BROKERS_CHOICE:
        return None
    return request.retention_time_ms


def _respond(
    response: OffsetCommitResponse, pending: _Pending, answer: list[ErrorCode] | KwireError
) -> OffsetCommitResponse:
    codes = [answer.code] * len(pending) if isinstance(answer, KwireError) else answer
    for one, code in zip(pending, codes, strict=True):
        one.error_code = code
    return response
