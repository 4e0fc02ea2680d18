"""ConsumerGroupHeartbeat: what members of the new protocol say, and what they are told."""

from pathlib import Path
from typing import Any

import pytest

from kwire.codec.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatResponse,
    HeartbeatTopicPartitions,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.consumers import beat, join
from kwire.tests.handlers.members import find_coordinator
from kwire.tests.handlers.nodes import OpenNode


@pytest.fixture
def topic_id(node: OpenNode) -> bytes:
    """A topic with three partitions, and a coordinator."""
    find_coordinator(node)
    return node.create("orders", partitions=3).topic_id


def _partitions(answer: ConsumerGroupHeartbeatResponse) -> dict[bytes, list[int]] | None:
    if answer.assignment is None:
        return None
    return {one.topic_id: one.partitions for one in answer.assignment.topic_partitions}


@pytest.mark.parametrize("version", [0, 1])
def test_a_new_member_is_told_its_epoch_and_its_partitions(
    node: OpenNode, topic_id: bytes, version: int
) -> None:
    answer = join(node, version)
    assert answer.error_code == ErrorCode.NONE
    assert (answer.member_id, answer.member_epoch) == ("m", 2)
    assert answer.heartbeat_interval_ms == 5000
    assert _partitions(answer) == {topic_id: [0, 1, 2]}


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_that_has_everything_is_told_nothing_new(
    node: OpenNode, topic_id: bytes, version: int
) -> None:
    join(node)
    answer = beat(node, version)
    assert (answer.error_code, answer.member_epoch) == (ErrorCode.NONE, 2)
    assert answer.assignment is None


def test_a_member_gives_away_what_it_says_it_does_not_own(node: OpenNode, topic_id: bytes) -> None:
    join(node)
    join(node, member_id="n")
    told = _partitions(beat(node))
    assert told is not None
    (kept,) = told.values()
    owned = [HeartbeatTopicPartitions(topic_id=topic_id, partitions=kept)]
    assert beat(node, topic_partitions=owned).member_epoch == 3
    assert _partitions(beat(node, member_id="n", member_epoch=3)) == {
        topic_id: sorted({0, 1, 2} - set(kept))
    }


def test_only_older_clients_may_leave_their_id_to_the_broker(
    node: OpenNode, topic_id: bytes
) -> None:
    """The id is made by the client since version 1 (KIP-1082)."""
    refused = join(node, 1, member_id="")
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert refused.error_message == "MemberId can't be empty."
    assert join(node, 0, member_id="").member_id


def test_topics_are_chosen_by_an_expression(node: OpenNode, topic_id: bytes) -> None:
    answer = join(node, subscribed_topic_names=None, subscribed_topic_regex="ord.*")
    assert _partitions(answer) == {topic_id: [0, 1, 2]}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"server_assignor": "mine"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"subscribed_topic_regex": "("}, ErrorCode.INVALID_REGULAR_EXPRESSION),
        ({"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": None}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": 5}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"group_id": ""}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_refusal_says_why(
    node: OpenNode, topic_id: bytes, fields: dict[str, Any], code: ErrorCode
) -> None:
    answer = join(node, **fields)
    assert answer.error_code == code
    assert answer.error_message
    assert answer.assignment is None


def test_without_a_coordinator_there_is_no_group(node: OpenNode) -> None:
    assert join(node).error_code == ErrorCode.NOT_COORDINATOR


def test_a_group_outlives_its_broker(tmp_path: Path) -> None:
    node = OpenNode(tmp_path)
    find_coordinator(node)
    node.create("orders", partitions=3)
    join(node)
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    assert beat(node).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    node.scheduler.end_turn()
    assert (beat(node).error_code, beat(node).member_epoch) == (ErrorCode.NONE, 2)
    node.close()


def test_new_partitions_come_with_the_next_heartbeat(node: OpenNode, topic_id: bytes) -> None:
    join(node, subscribed_topic_names=["later"])
    assert beat(node).assignment is None
    later = node.create("later", partitions=2).topic_id
    assert _partitions(beat(node)) == {later: [0, 1]}
