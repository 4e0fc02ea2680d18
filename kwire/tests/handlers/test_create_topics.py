"""CreateTopics: what comes to be, what is answered, and what is refused, topic by topic."""

import pytest

from kwire.codec.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from kwire.config.layered import Source
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import NODE_ID, OpenNode
from kwire.types import ZERO_UUID

NEWEST = 7


def _topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    *,
    placed: list[tuple[int, list[int]]] | None = None,
    config: list[tuple[str, str | None]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in placed or ()
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in config or ()],
    )


def _create(
    node: OpenNode, *topics: CreatableTopic, version: int = NEWEST, validate_only: bool = False
) -> dict[str, CreatableTopicResult]:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    answer = node.ask(request, version)
    told = {topic.name: topic for topic in answer.topics}
    assert len(told) == len(answer.topics)
    return told


def _code(result: CreatableTopicResult) -> ErrorCode:
    return ErrorCode(result.error_code)


def test_a_created_topic_can_be_written_to_at_once(node: OpenNode) -> None:
    told = _create(node, _topic("orders", 3))
    assert _code(told["orders"]) == ErrorCode.NONE
    assert told["orders"].error_message is None
    assert node.node.hosted.find("orders", 2).log.next_offset == 0


def test_the_answer_tells_what_the_topic_has_become(node: OpenNode) -> None:
    wanted = _topic("orders", 3, config=[("retention.ms", "1000")])
    told = _create(node, wanted)["orders"]
    assert told.topic_id == node.node.controller.image.topics["orders"].topic_id
    assert (told.num_partitions, told.replication_factor) == (3, 1)
    assert told.configs is not None
    settings = {entry.name: (entry.value, entry.config_source) for entry in told.configs}
    assert settings["retention.ms"] == ("1000", Source.DYNAMIC_TOPIC)
    assert settings["cleanup.policy"] == ("delete", Source.DEFAULT)
    assert list(settings) == sorted(settings)


def test_version_6_tells_no_id_and_version_4_no_settings(node: OpenNode) -> None:
    six = _create(node, _topic("six"), version=6)["six"]
    assert (six.topic_id, six.num_partitions) == (ZERO_UUID, 1)
    four = _create(node, _topic("four"), version=4)["four"]
    assert (four.num_partitions, four.replication_factor, four.configs) == (-1, -1, [])


def test_minus_one_leaves_both_counts_to_the_broker(node: OpenNode) -> None:
    told = _create(node, _topic("orders", -1, -1))["orders"]
    assert (told.num_partitions, told.replication_factor) == (1, 1)


def test_replicas_can_be_placed_by_the_client(node: OpenNode) -> None:
    told = _create(node, _topic("orders", -1, -1, placed=[(1, [NODE_ID]), (0, [NODE_ID])]))
    assert told["orders"].num_partitions == 2


def test_only_checking_creates_nothing(node: OpenNode) -> None:
    told = _create(node, _topic("orders", 2), _topic("bad name"), validate_only=True)
    assert _code(told["orders"]) == ErrorCode.NONE
    assert told["orders"].num_partitions == 2
    assert _code(told["bad name"]) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert node.node.controller.image.topics == {}


def test_a_topic_named_twice_is_refused_and_the_others_are_created(node: OpenNode) -> None:
    told = _create(node, _topic("twice"), _topic("once"), _topic("twice", 2))
    assert _code(told["twice"]) == ErrorCode.INVALID_REQUEST
    assert told["twice"].error_message == "Duplicate topic name."
    assert list(node.node.controller.image.topics) == ["once"]


def test_one_refusal_does_not_keep_the_other_topics_from_being_created(node: OpenNode) -> None:
    told = _create(node, _topic("none", 0), _topic("some"))
    assert _code(told["none"]) == ErrorCode.INVALID_PARTITIONS
    assert _code(told["some"]) == ErrorCode.NONE


def test_a_topic_that_exists_is_refused_and_stays_as_it_was(node: OpenNode) -> None:
    made = node.create("orders")
    told = _create(node, _topic("orders", 5))["orders"]
    assert _code(told) == ErrorCode.TOPIC_ALREADY_EXISTS
    assert told.error_message == "Topic 'orders' already exists."
    assert node.node.controller.image.topics["orders"] == made


@pytest.mark.parametrize(
    ("topic", "code", "words"),
    [
        (_topic("a b"), ErrorCode.INVALID_TOPIC_EXCEPTION, "ASCII alphanumerics"),
        (_topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION, "'..' is not allowed"),
        (_topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST, "is prohibited"),
        (_topic("zero", 0), ErrorCode.INVALID_PARTITIONS, "non-positive"),
        (_topic("less", -2), ErrorCode.INVALID_PARTITIONS, "non-positive"),
        (_topic("none", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR, "larger than 0"),
        (_topic("three", 1, 3), ErrorCode.INVALID_REPLICATION_FACTOR, "only 1 broker(s)"),
        (
            _topic("key", config=[("no.such.key", "1")]),
            ErrorCode.INVALID_CONFIG,
            "Unknown topic config name: no.such.key",
        ),
        (
            _topic("value", config=[("retention.ms", "soon")]),
            ErrorCode.INVALID_CONFIG,
            "Not a number of type LONG",
        ),
        (
            _topic("null", config=[("retention.ms", None)]),
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: retention.ms",
        ),
        (
            _topic("both", 1, -1, placed=[(0, [NODE_ID])]),
            ErrorCode.INVALID_REQUEST,
            "numPartitions was not set to -1",
        ),
        (
            _topic("again", -1, -1, placed=[(0, [NODE_ID]), (0, [NODE_ID])]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "multiple manual partition assignments for partition 0",
        ),
        (
            _topic("gap", -1, -1, placed=[(0, [NODE_ID]), (2, [NODE_ID])]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "consecutive 0-based",
        ),
        (
            _topic("away", -1, -1, placed=[(0, [9])]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "no such broker is registered",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, CreatableTopic) else "",
)
def test_what_cannot_be_is_refused_in_kafkas_words(
    node: OpenNode, topic: CreatableTopic, code: ErrorCode, words: str
) -> None:
    told = _create(node, topic)[topic.name]
    assert _code(told) == code
    assert words in (told.error_message or "")
    assert (told.topic_id, told.num_partitions) == (ZERO_UUID, -1)
    assert topic.name not in node.node.controller.image.topics


def test_a_request_without_topics_is_answered_without_topics(node: OpenNode) -> None:
    assert _create(node) == {}
