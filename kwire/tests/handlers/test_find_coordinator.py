"""FindCoordinator: where coordinators are, one key or many at a time."""

from pathlib import Path

import pytest

from kwire.codec.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize("version", range(4))
def test_one_key_is_answered_at_the_top(node: OpenNode, version: int) -> None:
    answer = node.ask(FindCoordinatorRequest(key="g"), version)
    assert (answer.error_code, answer.node_id) == (ErrorCode.NONE, 1)
    assert (answer.host, answer.port) == ("localhost", 9092)


@pytest.mark.parametrize("version", [4, 5, 6])
def test_many_keys_are_answered_one_by_one(node: OpenNode, version: int) -> None:
    answer = node.ask(FindCoordinatorRequest(coordinator_keys=["g", "h"]), version)
    assert answer.coordinators == [
        Coordinator(key=key, node_id=1, host="localhost", port=9092) for key in "gh"
    ]


def test_the_answer_names_the_endpoint_of_the_listener_that_was_asked(node: OpenNode) -> None:
    answer = node.ask(FindCoordinatorRequest(key="g"), 3, listener_name="INSIDE")
    assert (answer.host, answer.port) == ("broker.local", 9093)


def test_a_coordinator_that_cannot_be_reached_here_is_not_available(node: OpenNode) -> None:
    answer = node.ask(FindCoordinatorRequest(key="g"), 3, listener_name="ELSEWHERE")
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (answer.node_id, answer.host, answer.port) == (-1, "", -1)


@pytest.mark.parametrize(
    ("key_type", "topic"), [(0, "__consumer_offsets"), (1, "__transaction_state")]
)
def test_the_first_who_asks_has_the_topic_made(node: OpenNode, key_type: int, topic: str) -> None:
    assert not node.node.controller.image.topics
    one = node.ask(FindCoordinatorRequest(key="x", key_type=key_type), 3)
    assert (one.error_code, one.node_id) == (ErrorCode.NONE, 1)
    assert list(node.node.controller.image.topics) == [topic]


@pytest.mark.parametrize("key_type", [2, 9])
def test_nothing_else_has_a_coordinator(node: OpenNode, key_type: int) -> None:
    code = ErrorCode.INVALID_REQUEST
    one = node.ask(FindCoordinatorRequest(key="x", key_type=key_type), 3)
    assert (one.error_code, one.node_id) == (code, -1)
    many = node.ask(FindCoordinatorRequest(coordinator_keys=["x"], key_type=key_type), 6)
    assert many.coordinators == [Coordinator(key="x", node_id=-1, port=-1, error_code=code)]
    assert not node.node.controller.image.topics


@pytest.mark.parametrize(
    ("key_type", "setting"),
    [(0, "offsets.topic.replication.factor"), (1, "transaction.state.log.replication.factor")],
)
def test_a_topic_that_cannot_be_made_leaves_no_coordinator(
    tmp_path: Path, key_type: int, setting: str
) -> None:
    node = OpenNode(tmp_path, {setting: "3"})
    answer = node.ask(FindCoordinatorRequest(key="g", key_type=key_type), 3)
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    node.close()
