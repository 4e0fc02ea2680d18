"""OffsetDelete: a group forgets how far it has read in some partitions."""

from kwire.codec.messages.offset_delete import (
    OffsetDeletePartitionResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopicResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import DeleteOffsets
from kwire.handlers.context import RequestContext
from kwire.tasks import Later


def handle(ctx: RequestContext, request: OffsetDeleteRequest) -> Later[OffsetDeleteResponse]:
    known = ctx.node.controller.image.topics
    partitions = [
        (topic.name, one.partition_index)
        for topic in request.topics
        for one in topic.partitions
        if topic.name in known and one.partition_index in known[topic.name].partitions
    ]
    deleted = ctx.node.groups.delete_offsets(DeleteOffsets(request.group_id, tuple(partitions)))
    return deleted.map(lambda answer: _respond(ctx, request, partitions, answer))


def refuse(
    ctx: RequestContext, request: OffsetDeleteRequest, code: ErrorCode
) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)


def _respond(
    ctx: RequestContext,
    request: OffsetDeleteRequest,
    partitions: list[tuple[str, int]],
    answer: list[ErrorCode] | KwireError,
) -> OffsetDeleteResponse:
    if isinstance(answer, KwireError):
        return refuse(ctx, request, answer.code)
    codes = dict(zip(partitions, answer, strict=True))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteTopicResponse(
                name=topic.name,
                partitions=[
                    OffsetDeletePartitionResponse(
                        partition_index=one.partition_index,
                        error_code=codes.get((topic.name, one.partition_index), unknown),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
