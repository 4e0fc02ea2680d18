"""DeleteTopics: by name and by id, each topic on its own."""

from pathlib import Path

import pytest

from kwire.codec.messages.delete_topics import (
    DeletableTopic,
    DeletableTopicResult,
    DeleteTopicsRequest,
)
from kwire.errors import ErrorCode, UnknownTopicOrPartition
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode
from kwire.types import ZERO_UUID

AN_ID = bytes(range(16))
NEWEST = 6


def _by_name(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=list(names))


def _delete(node: OpenNode, *topics: DeletableTopic) -> list[DeletableTopicResult]:
    results: list[DeletableTopicResult] = node.ask(
        DeleteTopicsRequest(topics=list(topics)), NEWEST
    ).responses
    return results


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_a_topic_is_deleted_by_name(node: OpenNode, version: int) -> None:
    node.create("orders")
    (result,) = node.ask(_by_name("orders"), version).responses
    assert result == DeletableTopicResult(name="orders")
    assert "orders" not in node.node.controller.image.topics
    with pytest.raises(UnknownTopicOrPartition):
        node.node.hosted.find("orders", 0)


def test_a_topic_is_deleted_by_id(node: OpenNode) -> None:
    made = node.create("orders")
    (result,) = _delete(node, DeletableTopic(topic_id=made.topic_id))
    assert result == DeletableTopicResult(name="orders", topic_id=made.topic_id)
    assert node.node.controller.image.topics == {}


def test_the_answer_tells_the_id_of_a_topic_deleted_by_name(node: OpenNode) -> None:
    made = node.create("orders")
    (result,) = _delete(node, DeletableTopic(name="orders"))
    assert result == DeletableTopicResult(name="orders", topic_id=made.topic_id)


def test_a_topic_made_anew_under_the_same_name_is_empty_and_has_another_id(
    node: OpenNode,
) -> None:
    old = node.create("orders")
    node.append("orders", a_batch(3))
    _delete(node, DeletableTopic(name="orders"))
    new = node.create("orders")
    assert new.topic_id != old.topic_id
    assert node.node.hosted.find("orders", 0).log.next_offset == 0


def test_unknown_topics_are_told_and_the_others_are_deleted(node: OpenNode) -> None:
    made = node.create("orders")
    told = _delete(
        node,
        DeletableTopic(name="missing"),
        DeletableTopic(topic_id=AN_ID),
        DeletableTopic(name="orders"),
    )
    by_code = {ErrorCode(result.error_code): result for result in told}
    assert by_code[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION].name == "missing"
    unknown = by_code[ErrorCode.UNKNOWN_TOPIC_ID]
    assert (unknown.name, unknown.topic_id) == (None, AN_ID)
    assert by_code[ErrorCode.NONE].topic_id == made.topic_id


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ([DeletableTopic(name="orders"), DeletableTopic(name="orders")], "Duplicate topic name."),
        ([DeletableTopic(topic_id=AN_ID), DeletableTopic(topic_id=AN_ID)], "Duplicate topic id."),
        (
            [DeletableTopic(name="orders", topic_id=AN_ID)],
            "You may not specify both topic name and topic id.",
        ),
        ([DeletableTopic()], "Neither topic name nor id were specified."),
    ],
)
def test_what_is_not_clear_is_refused_once_and_nothing_deleted(
    node: OpenNode, topics: list[DeletableTopic], words: str
) -> None:
    node.create("orders")
    (result,) = _delete(node, *topics)
    assert (result.error_code, result.error_message) == (ErrorCode.INVALID_REQUEST, words)
    assert (result.name, result.topic_id) == (topics[0].name, topics[0].topic_id)
    assert "orders" in node.node.controller.image.topics


def test_a_topic_asked_for_by_name_and_by_id_is_not_deleted(node: OpenNode) -> None:
    made = node.create("orders")
    by_id, by_name = DeletableTopic(topic_id=made.topic_id), DeletableTopic(name="orders")
    for topics in ([by_id, by_name], [by_name, by_id]):
        (result,) = _delete(node, *topics)
        assert result.error_code == ErrorCode.INVALID_REQUEST
        assert (result.name, result.topic_id) == ("orders", made.topic_id)
    assert "orders" in node.node.controller.image.topics


def test_a_broker_may_forbid_deletion(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"delete.topic.enable": "false"})
    node.create("orders")
    old = node.ask(_by_name("orders"), 2).responses[0]
    new = node.ask(_by_name("orders"), 3).responses[0]
    assert old.error_code == ErrorCode.INVALID_REQUEST
    assert new.error_code == ErrorCode.TOPIC_DELETION_DISABLED
    assert (new.name, new.topic_id) == ("orders", ZERO_UUID)
    assert "orders" in node.node.controller.image.topics
    node.close()
