"""Produce: append each partition's batch, in the client's order, and say where it landed.

The answer comes at once when the page cache is durable enough for the topic, and after the end of
the loop turn when `flush.messages` asks for the disk: one fdatasync then serves all of the turn.
Records are views into the connection's buffer: they are written before `handle` returns, and
nothing keeps them.
"""

from typing import TYPE_CHECKING

from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopic,
    ProduceTopicResponse,
    RecordError,
)
from kwire.errors import (
    ErrorCode,
    InvalidProducerEpoch,
    InvalidRecord,
    InvalidRequiredAcks,
    InvalidTopic,
    InvalidTxnState,
    KafkaStorageError,
    KwireError,
    OutOfOrderSequence,
)
from kwire.handlers.context import HangUp, RequestContext
from kwire.handlers.selection import INTERNAL_TOPICS
from kwire.log.flush import needs_flush
from kwire.log.partition_log import PartitionLog
from kwire.log.record_rules import InvalidRecords, InvalidTimestamps
from kwire.tasks import Later
from kwire.types import TopicPartition

if TYPE_CHECKING:
    from kwire.handlers.in_transaction import Refusals

FIRST_VERSION_WITH_TOPIC_IDS = 13

# These tell where the log starts: a producer whose records are gone may so know why it is refused.
_JUDGED_BY_THE_LOG = (
    InvalidProducerEpoch,
    InvalidRecord,
    InvalidTimestamps,
    InvalidTxnState,
    OutOfOrderSequence,
)

ADMIN_CLIENT_ID = "__admin_client"
"""The one client that may write to internal topics, as in Kafka."""


def handle(
    ctx: RequestContext, request: ProduceRequest
) -> ProduceResponse | Later[ProduceResponse] | None:
    if request.acks not in (-1, 0, 1):
        raise InvalidRequiredAcks()
    if request.transactional_id is None:
        return _append_all(ctx, request, None)
    return _append_in_transaction(ctx, request, request.transactional_id)


def _append_in_transaction(
    ctx: RequestContext, request: ProduceRequest, transactional_id: str
) -> ProduceResponse | Later[ProduceResponse] | None:
    from kwire.handlers import transactional_batches

    entered = transactional_batches.enter(ctx, request, transactional_id)
    if entered.done:
        return _append_all(ctx, request, entered.value)
    transactional_batches.keep(request)
    answer: Later[ProduceResponse] = Later()

    def append(refusals: "Refusals") -> None:
        appended = _append_all(ctx, request, refusals)
        if isinstance(appended, Later):
            appended.then(answer.complete)
        elif appended is not None:
            answer.complete(appended)

    entered.then(append)
    return None if request.acks == 0 else answer


def _append_all(
    ctx: RequestContext, request: ProduceRequest, refusals: "Refusals | None"
) -> ProduceResponse | Later[ProduceResponse] | None:
    """Append every batch that may be; those of a transaction only with what refuses some."""
    dirty: list[PartitionLog] = []
    topics = []
    for topic in request.topic_data:
        partitions = []
        for wanted in topic.partition_data:
            partitions.append(_append(ctx, request.acks, topic, wanted, dirty, refusals))
        topics.append(
            ProduceTopicResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=partitions
            )
        )
    response = ProduceResponse(responses=topics)
    later = _after_flush(ctx, response, dirty) if dirty else None
    if request.acks == 0:
        _hang_up_on_errors(response)
        return None
    return response if later is None else later


def refuse(ctx: RequestContext, request: ProduceRequest, code: ErrorCode) -> ProduceResponse | None:
    response = ProduceResponse(
        responses=[
            ProduceTopicResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    ProducePartitionResponse(index=wanted.index, error_code=code, base_offset=-1)
                    for wanted in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
    if request.acks == 0:
        _hang_up_on_errors(response)
        return None
    return response


def _append(
    ctx: RequestContext,
    acks: int,
    topic: ProduceTopic,
    wanted: ProducePartition,
    dirty: list[PartitionLog],
    refusals: "Refusals | None",
) -> ProducePartitionResponse:
    node = ctx.node
    log = None
    try:
        if ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS:
            partition = node.hosted.find_by_id(topic.topic_id, wanted.index)
        else:
            partition = node.hosted.find(topic.name, wanted.index)
        if partition.topic in INTERNAL_TOPICS and ctx.client_id != ADMIN_CLIENT_ID:
            raise InvalidTopic(f"cannot append to internal topic {partition.topic}")
        if refusals and (partition.topic, wanted.index) in refusals:
            raise refusals[TopicPartition(partition.topic, wanted.index)]
        log = partition.log
        appended = partition.append(
            wanted.records,
            acks=acks,
            produce_version=ctx.version,
            now_ms=node.clock.now_ms(),
            is_transactional=refusals is not None,
        )
    except KwireError as error:
        return _refused(wanted.index, error, log)
    if needs_flush(log):
        dirty.append(log)
    return ProducePartitionResponse(
        index=wanted.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.log_append_time_ms,
        log_start_offset=log.log_start_offset,
    )


def _refused(index: int, error: KwireError, log: PartitionLog | None) -> ProducePartitionResponse:
    """Say what is wrong, and with which records (KIP-467)."""
    refusal = ProducePartitionResponse(
        index=index, error_code=error.code, base_offset=-1, error_message=error.message
    )
    if log is not None and isinstance(error, _JUDGED_BY_THE_LOG):
        refusal.log_start_offset = log.log_start_offset
    if isinstance(error, InvalidRecords | InvalidTimestamps):
        refusal.record_errors = [
            RecordError(batch_index=wrong.batch_index, batch_index_error_message=wrong.message)
            for wrong in error.record_errors
        ]
    return refusal


def _after_flush(
    ctx: RequestContext, response: ProduceResponse, dirty: list[PartitionLog]
) -> Later[ProduceResponse]:
    """Hold the answer until every dirty log is on disk; a failed flush turns it into a refusal."""
    later: Later[ProduceResponse] = Later()
    waiting = len(dirty)

    def flushed(error: KafkaStorageError | None) -> None:
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
    """One directory holds all logs: if one cannot be flushed, none of the answer is certain."""
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code == ErrorCode.NONE:
                partition.error_code = ErrorCode.KAFKA_STORAGE_ERROR
                partition.base_offset = -1


def _hang_up_on_errors(response: ProduceResponse) -> None:
    """With acks=0 nobody reads an answer; closing is the only way to report a failure."""
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code != ErrorCode.NONE:
                name = ErrorCode(partition.error_code).name
                raise HangUp(f"produce with acks=0 failed: {name}")
