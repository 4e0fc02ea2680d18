"""FindCoordinator: where a group's coordinator is, one key or many at a time."""

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
    ("key_type", "code"),
    [
        (1, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (2, ErrorCode.INVALID_REQUEST),
        (9, ErrorCode.INVALID_REQUEST),
    ],
)
def test_only_groups_have_a_coordinator(node: OpenNode, key_type: int, code: ErrorCode) -> None:
    one = node.ask(FindCoordinatorRequest(key="x", key_type=key_type), 3)
    assert (one.error_code, one.node_id) == (code, -1)
    many = node.ask(FindCoordinatorRequest(coordinator_keys=["x"], key_type=key_type), 6)
    assert many.coordinators == [Coordinator(key="x", node_id=-1, port=-1, error_code=code)]
    assert "__consumer_offsets" not in node.node.controller.image.topics


def test_a_topic_that_cannot_be_made_leaves_no_coordinator(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"offsets.topic.replication.factor": "3"})
    answer = node.ask(FindCoordinatorRequest(key="g"), 3)
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    node.close()
