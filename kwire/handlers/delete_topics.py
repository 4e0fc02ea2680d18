"""DeleteTopics: topics go, by name or (from version 6 on) by id."""

from collections import Counter
from functools import partial

from kwire.codec.messages.delete_topics import (
    DeletableTopic,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.controller.image import TopicImage
from kwire.errors import (
    ErrorCode,
    InvalidRequest,
    KwireError,
    TopicDeletionDisabled,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from kwire.handlers.context import RequestContext
from kwire.tasks import Later
from kwire.types import ZERO_UUID

FIRST_VERSION_WITH_TOPIC_IDS = 6
FIRST_VERSION_WITH_DELETION_DISABLED = 3

_GIVEN_TWICE = "The provided topic name maps to an ID that was already supplied."


def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> Later[DeleteTopicsResponse]:
    if not ctx.node.config.delete_topic_enable:
        if ctx.version < FIRST_VERSION_WITH_DELETION_DISABLED:
            raise InvalidRequest("Topic deletion is disabled.")
        raise TopicDeletionDisabled()
    asked = _asked(ctx, request)
    times = Counter((topic.name, topic.topic_id) for topic in asked)
    found: dict[str, TopicImage] = {}
    refused: list[DeletableTopicResult] = []
    for key, topic in {(topic.name, topic.topic_id): topic for topic in asked}.items():
        try:
            image = _find(ctx, topic, is_repeated=times[key] > 1)
        except KwireError as error:
            refused.append(_result(topic.name, topic.topic_id, error))
            continue
        # Asked for by its name and by its id: it is not clear what is meant, so nothing is done.
        if found.pop(image.name, None) is None:
            found[image.name] = image
        else:
            refused.append(_result(image.name, image.topic_id, InvalidRequest(_GIVEN_TWICE)))
    deleted = ctx.node.controller.delete_topics(list(found))
    return deleted.map(partial(_answer, list(found.values()), refused))


def refuse(
    ctx: RequestContext, request: DeleteTopicsRequest, code: ErrorCode
) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_code=code)
            for topic in _asked(ctx, request)
        ]
    )


def _asked(ctx: RequestContext, request: DeleteTopicsRequest) -> list[DeletableTopic]:
    if ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS:
        return request.topics
    return [DeletableTopic(name=name) for name in request.topic_names]


def _find(ctx: RequestContext, topic: DeletableTopic, *, is_repeated: bool) -> TopicImage:
    image = ctx.node.controller.image
    if topic.name is None:
        if topic.topic_id == ZERO_UUID:
            raise InvalidRequest("Neither topic name nor id were specified.")
        if is_repeated:
            raise InvalidRequest("Duplicate topic id.")
        by_id = image.topic_by_id(topic.topic_id)
        if by_id is None:
            raise UnknownTopicId("This server does not host this topic ID.")
        return by_id
    if topic.topic_id != ZERO_UUID:
        raise InvalidRequest("You may not specify both topic name and topic id.")
    if is_repeated:
        raise InvalidRequest("Duplicate topic name.")
    by_name = image.topics.get(topic.name)
    if by_name is None:
        raise UnknownTopicOrPartition("This server does not host this topic-partition.")
    return by_name


def _answer(
    found: list[TopicImage],
    refused: list[DeletableTopicResult],
    results: list[KwireError | None],
) -> DeleteTopicsResponse:
    told = [
        _result(topic.name, topic.topic_id, error)
        for topic, error in zip(found, results, strict=True)
    ]
    return DeleteTopicsResponse(responses=told + refused)


def _result(name: str | None, topic_id: bytes, error: KwireError | None) -> DeletableTopicResult:
    result = DeletableTopicResult(name=name, topic_id=topic_id)
    if error is not None:
        result.error_code = error.code
        result.error_message = error.message
    return result
