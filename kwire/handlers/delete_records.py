"""DeleteRecords: everything before an offset is dropped from a partition (KIP-107)."""

from kwire.codec.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kwire.errors import ErrorCode, InvalidTopic, KwireError, OffsetOutOfRange, PolicyViolation
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import is_internal
from kwire.replication.partition import Partition

HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1


def handle(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_delete(ctx, topic.name, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def refuse(
    ctx: RequestContext, request: DeleteRecordsRequest, code: ErrorCode
) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_failed(wanted, code) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _delete(
    ctx: RequestContext, topic: str, wanted: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    try:
        if is_internal(topic):
            raise InvalidTopic(f"Cannot delete records of internal topic {topic}")
        partition = ctx.node.hosted.find(topic, wanted.partition_index)
        low_watermark = partition.delete_records_before(_new_start(partition, wanted.offset))
    except KwireError as error:
        return _failed(wanted, error.code)
    return DeleteRecordsPartitionResult(
        partition_index=wanted.partition_index, low_watermark=low_watermark
    )


def _new_start(partition: Partition, offset: int) -> int:
    """Where the log is to start: only what every reader could have read may be deleted."""
    policy = partition.log.config.cleanup_policy
    if "compact" in policy and "delete" not in policy:
        raise PolicyViolation("Records of a compacted topic can not be deleted by offset")
    if offset == HIGH_WATERMARK:
        return partition.high_watermark
    if not 0 <= offset <= partition.high_watermark:
        raise OffsetOutOfRange()
    return offset


def _failed(wanted: DeleteRecordsPartition, code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=wanted.partition_index, low_watermark=NO_LOW_WATERMARK, error_code=code
    )
