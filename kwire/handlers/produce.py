"""Produce: append each partition's batch, in the client's order, and say where it landed.

The answer comes at once when the page cache is durable enough for the topic, and after the end of
the loop turn when `flush.messages` asks for the disk: one fdatasync then serves all of the turn.
"""

from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopic,
    ProduceTopicResponse,
)
from kwire.errors import CorruptMessage, ErrorCode, InvalidRequiredAcks, KwireError
from kwire.handlers.context import HangUp, RequestContext
from kwire.log.partition_log import PartitionLog
from kwire.replication.partition import Partition
from kwire.tasks import Later

FIRST_VERSION_WITH_TOPIC_IDS = 13


def handle(
    ctx: RequestContext, request: ProduceRequest
) -> ProduceResponse | Later[ProduceResponse] | None:
    if request.acks not in (-1, 0, 1):
        raise InvalidRequiredAcks()
    dirty: list[PartitionLog] = []
    response = ProduceResponse(
        responses=[_append_topic(ctx, request, topic, dirty) for topic in request.topic_data]
    )
    if request.acks == 0:
        return _silence(response)
    if dirty:
        return _after_flush(ctx, response, dirty)
    return response


def refuse(
    ctx: RequestContext, request: ProduceRequest, code: ErrorCode
) -> ProduceResponse | None:
    response = ProduceResponse(
        responses=[
            ProduceTopicResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    ProducePartitionResponse(
                        index=wanted.index, error_code=code, base_offset=-1
                    )
                    for wanted in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
    return _silence(response) if request.acks == 0 else response


def _append_topic(
    ctx: RequestContext, request: ProduceRequest, topic: ProduceTopic, dirty: list[PartitionLog]
) -> ProduceTopicResponse:
    return ProduceTopicResponse(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_responses=[
            _append(ctx, request, topic, wanted, dirty) for wanted in topic.partition_data
        ],
    )


def _append(
    ctx: RequestContext,
    request: ProduceRequest,
    topic: ProduceTopic,
    wanted: ProducePartition,
    dirty: list[PartitionLog],
) -> ProducePartitionResponse:
    try:
        partition = _find(ctx, topic, wanted.index)
        if not wanted.records:
            raise CorruptMessage("a produce partition without records")
        appended = partition.append(
            wanted.records,
            acks=request.acks,
            produce_version=ctx.version,
            now_ms=ctx.node.clock.now_ms(),
        )
    except KwireError as error:
        return ProducePartitionResponse(
            index=wanted.index,
            error_code=error.code,
            base_offset=-1,
            error_message=error.message,
        )
    log = partition.log
    if log.unflushed_messages >= log.config.flush_messages:
        dirty.append(log)
    return ProducePartitionResponse(
        index=wanted.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.log_append_time_ms,
        log_start_offset=log.log_start_offset,
    )


def _find(ctx: RequestContext, topic: ProduceTopic, index: int) -> Partition:
    if ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS:
        return ctx.node.hosted.find_by_id(topic.topic_id, index)
    return ctx.node.hosted.find(topic.name, index)


def _after_flush(
    ctx: RequestContext, response: ProduceResponse, dirty: list[PartitionLog]
) -> Later[ProduceResponse]:
    """Hold the answer until every dirty log is on disk; a failed flush turns it into a refusal."""
    later: Later[ProduceResponse] = Later()
    waiting = len(dirty)

    def flushed(error: Exception | None) -> None:
        nonlocal waiting
        waiting -= 1
        if error is not None:
            _fail(response)
        if waiting == 0:
            later.complete(response)

    for log in dirty:
        ctx.node.group_commit.after_flush(log, flushed)
    return later


def _fail(response: ProduceResponse) -> None:
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code == ErrorCode.NONE:
                partition.error_code = ErrorCode.KAFKA_STORAGE_ERROR
                partition.base_offset = -1


def _silence(response: ProduceResponse) -> None:
    """With acks=0 nobody reads an answer; closing is the only way to report a failure."""
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code != ErrorCode.NONE:
                name = ErrorCode(partition.error_code).name
                raise HangUp(f"produce with acks=0 failed: {name}")
