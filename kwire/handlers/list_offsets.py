"""ListOffsets: where a partition begins, where it ends, or where a time begins.

Consumers see no further than what they may fetch: the high watermark, or the last stable offset
when they read committed records only. A time that lies beyond yields offset and timestamp -1.
"""

from collections import Counter

from kwire.codec.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.log.time_lookup import TimedOffset
from kwire.replication.partition import Partition
from kwire.types import TopicPartition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

CONSUMER = -1
READ_UNCOMMITTED = 0
READ_COMMITTED = 1

_NO_TIME = -1
_NOTHING = TimedOffset(_NO_TIME, -1)

# From which version on each special timestamp may be asked for.
_SINCE = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


def handle(ctx: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    if request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED):
        raise KwireError(f"Unknown isolation level {request.isolation_level}")
    named = Counter(
        TopicPartition(topic.name, wanted.partition_index)
        for topic in request.topics
        for wanted in topic.partitions
    )
    topics: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    for topic in request.topics:
        answers = topics.setdefault(topic.name, {})
        for wanted in topic.partitions:
            is_repeated = named[TopicPartition(topic.name, wanted.partition_index)] > 1
            answers[wanted.partition_index] = _answer(ctx, request, topic, wanted, is_repeated)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name=name, partitions=list(answers.values()))
            for name, answers in topics.items()
        ]
    )


def refuse(
    ctx: RequestContext, request: ListOffsetsRequest, code: ErrorCode
) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[_failed(wanted, code) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(
    ctx: RequestContext,
    request: ListOffsetsRequest,
    topic: ListOffsetsTopic,
    wanted: ListOffsetsPartition,
    is_repeated: bool,
) -> ListOffsetsPartitionResponse:
    if is_repeated:
        return _failed(wanted, ErrorCode.INVALID_REQUEST)
    if not _is_askable(wanted.timestamp, ctx.version):
        return _failed(wanted, ErrorCode.UNSUPPORTED_VERSION)
    try:
        partition = ctx.node.hosted.find(topic.name, wanted.partition_index)
        partition.check_leader_epoch(wanted.current_leader_epoch)
        found = _look_up(partition, wanted.timestamp, _readable_end(partition, request))
    except KwireError as error:
        return _failed(wanted, _told_as(error.code, ctx.version))
    return ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch,
    )


def _is_askable(timestamp: int, version: int) -> bool:
    return timestamp >= 0 or version >= _SINCE.get(timestamp, version + 1)


def _readable_end(partition: Partition, request: ListOffsetsRequest) -> int:
    if request.replica_id != CONSUMER:
        return partition.log.next_offset
    return partition.readable_end(read_committed=request.isolation_level == READ_COMMITTED)


def _look_up(partition: Partition, timestamp: int, end_offset: int) -> TimedOffset:
    log = partition.log
    if timestamp == LATEST:
        return TimedOffset(_NO_TIME, end_offset, partition.leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        # Without tiered storage everything is local.
        return TimedOffset(_NO_TIME, log.log_start_offset, _first_epoch(partition))
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return _NOTHING
    if timestamp == MAX_TIMESTAMP:
        found = log.max_timestamp_offset(end_offset=log.next_offset)
    else:
        found = log.offset_for_time(timestamp, end_offset=end_offset)
    # The newest record may lie beyond what this reader sees; Kafka then tells of none.
    return _NOTHING if found is None or found.offset >= end_offset else found


def _first_epoch(partition: Partition) -> int:
    """In which epoch the log begins; an empty one begins with what is appended next."""
    log = partition.log
    if log.log_start_offset == log.next_offset:
        return partition.leader_epoch
    return log.leader_epochs.epoch_at(log.log_start_offset)


def _told_as(code: ErrorCode, version: int) -> ErrorCode:
    """OFFSET_NOT_AVAILABLE came with version 5 (KIP-207); before, clients retry on another code."""
    if code == ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return code


def _failed(wanted: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=wanted.partition_index, error_code=code)
