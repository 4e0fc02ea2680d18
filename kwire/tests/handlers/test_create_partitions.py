"""CreatePartitions: more partitions, never fewer."""

import pytest

from kwire.codec.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

NEWEST = 3


def _wanted(name: str, count: int, placed: list[list[int]] | None = None) -> CreatePartitionsTopic:
    wanted = CreatePartitionsTopic(name=name, count=count, assignments=None)
    if placed is not None:
        wanted.assignments = [CreatePartitionsAssignment(broker_ids=one) for one in placed]
    return wanted


def _grow(
    node: OpenNode, *topics: CreatePartitionsTopic, validate_only: bool = False
) -> list[CreatePartitionsTopicResult]:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=validate_only)
    results: list[CreatePartitionsTopicResult] = node.ask(request, NEWEST).results
    return results


def _count(node: OpenNode, topic: str) -> int:
    return len(node.node.controller.image.topics[topic].partitions)


@pytest.mark.parametrize("placed", [None, [[NODE_ID], [NODE_ID]]])
def test_new_partitions_can_be_used_at_once(node: OpenNode, placed: list[list[int]] | None) -> None:
    node.create("orders")
    assert _grow(node, _wanted("orders", 3, placed)) == [CreatePartitionsTopicResult(name="orders")]
    assert node.node.hosted.find("orders", 2).log.next_offset == 0


def test_only_checking_adds_nothing(node: OpenNode) -> None:
    node.create("orders")
    (result,) = _grow(node, _wanted("orders", 3), validate_only=True)
    assert result.error_code == ErrorCode.NONE
    assert _count(node, "orders") == 1


@pytest.mark.parametrize(
    ("topic", "code", "words"),
    [
        (_wanted("orders", 2), ErrorCode.INVALID_PARTITIONS, "already has 2 partition(s)"),
        (_wanted("orders", 1), ErrorCode.INVALID_PARTITIONS, "would not be an increase"),
        (
            _wanted("orders", 4, [[NODE_ID]]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 2 additional partition(s), but only 1",
        ),
        (
            _wanted("orders", 3, [[9]]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "no such broker is registered",
        ),
        (_wanted("missing", 3), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
    ],
)
def test_what_cannot_be_is_refused_in_kafkas_words(
    node: OpenNode, topic: CreatePartitionsTopic, code: ErrorCode, words: str
) -> None:
    node.create("orders", 2)
    (result,) = _grow(node, topic)
    assert (result.name, result.error_code) == (topic.name, code)
    assert words in (result.error_message or "")
    assert _count(node, "orders") == 2


def test_a_topic_named_twice_is_refused_and_the_others_grow(node: OpenNode) -> None:
    node.create("twice")
    node.create("once")
    once, twice = _grow(node, _wanted("twice", 2), _wanted("once", 2), _wanted("twice", 3))
    assert once == CreatePartitionsTopicResult(name="once")
    assert (twice.name, twice.error_code) == ("twice", ErrorCode.INVALID_REQUEST)
    assert twice.error_message == "Duplicate topic name."
    assert (_count(node, "twice"), _count(node, "once")) == (1, 2)
