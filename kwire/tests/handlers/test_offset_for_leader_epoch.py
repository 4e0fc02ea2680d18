"""OffsetForLeaderEpoch: where the batches of an epoch end, and who may ask."""

import pytest

from kwire.codec.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kwire.controller.image import PartitionState
from kwire.errors import ErrorCode
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

UNDEFINED = (-1, -1)


@pytest.fixture(autouse=True)
def _a_topic(node: OpenNode) -> None:
    node.create("orders")


def _lead(node: OpenNode, epoch: int) -> None:
    ours = (NODE_ID,)
    node.node.hosted.find("orders", 0).follow(PartitionState(ours, ours, NODE_ID, epoch))


def _ask(
    node: OpenNode, epoch: int, *, current: int = -1, topic: str = "orders", partition: int = 0
) -> EpochEndOffset:
    asked = OffsetForLeaderPartition(
        partition=partition, current_leader_epoch=current, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])]
    )
    (answered,) = node.ask(request, 4).topics
    assert answered.topic == topic
    (end,) = answered.partitions
    assert isinstance(end, EpochEndOffset)
    assert end.partition == partition
    return end


def _end(node: OpenNode, epoch: int) -> tuple[int, int]:
    answer = _ask(node, epoch)
    assert answer.error_code == ErrorCode.NONE
    return answer.leader_epoch, answer.end_offset


def test_each_epoch_ends_where_the_next_begins_and_the_last_at_the_end(node: OpenNode) -> None:
    node.append("orders", a_batch(2))
    _lead(node, 3)
    node.append("orders", a_batch(4))
    assert _end(node, 0) == (0, 2)
    assert _end(node, 3) == (3, 6)


def test_an_epoch_that_wrote_nothing_is_answered_with_the_one_before(node: OpenNode) -> None:
    node.append("orders", a_batch(2))
    _lead(node, 3)
    node.append("orders", a_batch(4))
    assert _end(node, 2) == (0, 2)


def test_our_epoch_counts_before_its_first_batch(node: OpenNode) -> None:
    assert _end(node, 0) == (0, 0)
    _lead(node, 3)
    assert _end(node, 3) == (3, 0)
    assert _end(node, 1) == (1, 0)
    node.append("orders", a_batch(2))
    _lead(node, 7)
    assert _end(node, 7) == (7, 2)
    assert _end(node, 5) == (3, 2)


@pytest.mark.parametrize("epoch", [-1, 1])
def test_an_epoch_that_never_was_has_no_end(node: OpenNode, epoch: int) -> None:
    node.append("orders", a_batch(2))
    assert _end(node, epoch) == UNDEFINED


def test_a_client_with_another_idea_of_the_leadership_is_told_so(node: OpenNode) -> None:
    _lead(node, 3)
    assert _ask(node, 0, current=3).error_code == ErrorCode.NONE
    assert _ask(node, 0, current=2).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert _ask(node, 0, current=4).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_what_is_not_here_is_unknown(node: OpenNode) -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _ask(node, 0, topic="missing").error_code == code
    assert _ask(node, 0, partition=7) == EpochEndOffset(error_code=code, partition=7)
