"""CreatePartitions: topics get more partitions; they never get fewer."""

from collections import Counter
from functools import partial

from kwire.codec.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kwire.controller.commands import MorePartitions
from kwire.errors import ErrorCode, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later


def handle(
    ctx: RequestContext, request: CreatePartitionsRequest
) -> Later[CreatePartitionsResponse]:
    times = Counter(topic.name for topic in request.topics)
    wanted = [_wanted(topic) for topic in request.topics if times[topic.name] == 1]
    repeated = [name for name, count in times.items() if count > 1]
    created = ctx.node.controller.create_partitions(wanted, validate_only=request.validate_only)
    return created.map(partial(_answer, wanted, repeated))


def refuse(
    ctx: RequestContext, request: CreatePartitionsRequest, code: ErrorCode
) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=code)
            for topic in request.topics
        ]
    )


def _wanted(topic: CreatePartitionsTopic) -> MorePartitions:
    placed = topic.assignments
    if placed is None:
        return MorePartitions(topic.name, topic.count)
    return MorePartitions(topic.name, topic.count, [entry.broker_ids for entry in placed])


def _answer(
    wanted: list[MorePartitions], repeated: list[str], results: list[KwireError | None]
) -> CreatePartitionsResponse:
    told = [_result(more.topic, error) for more, error in zip(wanted, results, strict=True)]
    told += [_result(name, InvalidRequest("Duplicate topic name.")) for name in repeated]
    return CreatePartitionsResponse(results=told)


def _result(name: str, error: KwireError | None) -> CreatePartitionsTopicResult:
    if error is None:
        return CreatePartitionsTopicResult(name=name)
    return CreatePartitionsTopicResult(
        name=name, error_code=error.code, error_message=error.message
    )
