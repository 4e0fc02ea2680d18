"""CreateTopics: topics are created, or only checked; each is told of on its own.

The answer tells, from version 5 on, what the topic has become: partitions, replicas, settings.
"""

from collections import Counter
from functools import partial
from typing import TypeAlias

from kwire.codec.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreatedTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.config.describe import describe_topic
from kwire.controller.commands import NewTopic
from kwire.controller.image import TopicImage
from kwire.errors import ErrorCode, InvalidReplicaAssignment, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_CONFIGS = 5

_SettingsByOverrides: TypeAlias = dict[tuple[tuple[str, str], ...], list[CreatedTopicConfig]]


def handle(ctx: RequestContext, request: CreateTopicsRequest) -> Later[CreateTopicsResponse]:
    times = Counter(topic.name for topic in request.topics)
    wanted: list[NewTopic] = []
    refused: list[CreatableTopicResult] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            wanted.append(_wanted(topic, is_repeated=times[topic.name] > 1))
        except KwireError as error:
            refused.append(_failed(topic.name, error))
    created = ctx.node.controller.create_topics(wanted, validate_only=request.validate_only)
    return created.map(partial(_answer, ctx, wanted, refused))


def refuse(
    ctx: RequestContext, request: CreateTopicsRequest, code: ErrorCode
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name=topic.name, error_code=code, error_message=None)
            for topic in request.topics
        ]
    )


def _wanted(topic: CreatableTopic, *, is_repeated: bool) -> NewTopic:
    if is_repeated:
        raise InvalidRequest("Duplicate topic name.")
    assignment: dict[int, list[int]] = {}
    for placed in topic.assignments:
        if placed.partition_index in assignment:
            raise InvalidReplicaAssignment(
                "Found multiple manual partition assignments for partition"
                f" {placed.partition_index}"
            )
        assignment[placed.partition_index] = placed.broker_ids
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        assignment,
        {entry.name: entry.value for entry in topic.configs},
    )


def _answer(
    ctx: RequestContext,
    wanted: list[NewTopic],
    refused: list[CreatableTopicResult],
    results: list[TopicImage | KwireError],
) -> CreateTopicsResponse:
    # Hundreds of topics may be created at once, and mostly they are set up alike.
    settings: _SettingsByOverrides = {}
    told = [
        _failed(topic.name, result)
        if isinstance(result, KwireError)
        else _created(ctx, result, settings)
        for topic, result in zip(wanted, results, strict=True)
    ]
    return CreateTopicsResponse(topics=told + refused)


def _created(
    ctx: RequestContext, topic: TopicImage, settings: _SettingsByOverrides
) -> CreatableTopicResult:
    result = CreatableTopicResult(name=topic.name, topic_id=topic.topic_id, error_message=None)
    if ctx.version >= FIRST_VERSION_WITH_CONFIGS:
        overrides = tuple(topic.config.items())
        if overrides not in settings:
            settings[overrides] = _settings(ctx, topic)
        result.num_partitions = len(topic.partitions)
        result.replication_factor = len(topic.partitions[0].replicas)
        result.configs = settings[overrides]
    return result


def _settings(ctx: RequestContext, topic: TopicImage) -> list[CreatedTopicConfig]:
    return [
        CreatedTopicConfig(
            name=entry.name,
            value=entry.value,
            read_only=entry.read_only,
            config_source=entry.source,
            is_sensitive=entry.is_sensitive,
        )
        for entry in describe_topic(ctx.node.controller.layers, topic.config)
    ]


def _failed(name: str, error: KwireError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)
