"""DescribeTopicPartitions: page by page through the topics, in order of their names."""

from pathlib import Path

import pytest

from kwire.codec.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestTopic,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kwire.controller.image import NO_LEADER
from kwire.errors import ErrorCode
from kwire.handlers.selection import TOPIC_OPERATIONS
from kwire.tests.handlers.nodes import NODE_ID, OpenNode


def _ask(
    node: OpenNode, *names: str, limit: int = 2000, cursor: Cursor | None = None
) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequestTopic(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor,
    )
    answer = node.ask(request, 0)
    assert isinstance(answer, DescribeTopicPartitionsResponse)
    return answer


def _pages(answer: DescribeTopicPartitionsResponse) -> list[tuple[str | None, list[int]]]:
    return [
        (topic.name, [partition.partition_index for partition in topic.partitions])
        for topic in answer.topics
    ]


def test_a_topic_is_told_with_id_leaders_and_operations(node: OpenNode) -> None:
    made = node.create("orders")
    assert _ask(node, "orders").topics == [
        DescribeTopicPartitionsResponseTopic(
            name="orders",
            topic_id=made.topic_id,
            partitions=[
                DescribeTopicPartitionsResponsePartition(
                    leader_id=NODE_ID,
                    leader_epoch=0,
                    replica_nodes=[NODE_ID],
                    isr_nodes=[NODE_ID],
                    eligible_leader_replicas=[],
                    last_known_elr=[],
                )
            ],
            topic_authorized_operations=TOPIC_OPERATIONS,
        )
    ]


def test_topics_come_once_each_in_order_of_their_names(node: OpenNode) -> None:
    for name in ("b", "c", "a"):
        node.create(name)
    assert _pages(_ask(node, "c", "a", "c")) == [("a", [0]), ("c", [0])]
    assert _pages(_ask(node)) == [("a", [0]), ("b", [0]), ("c", [0])]


def test_following_the_cursor_tells_every_partition_once(node: OpenNode) -> None:
    node.create("a", 3)
    node.create("b", 2)
    answer = _ask(node, limit=2)
    assert _pages(answer) == [("a", [0, 1])]
    assert answer.next_cursor == Cursor(topic_name="a", partition_index=2)
    answer = _ask(node, limit=2, cursor=answer.next_cursor)
    assert _pages(answer) == [("a", [2]), ("b", [0])]
    assert answer.next_cursor == Cursor(topic_name="b", partition_index=1)
    answer = _ask(node, limit=2, cursor=answer.next_cursor)
    assert _pages(answer) == [("b", [1])]
    assert answer.next_cursor is None


def test_a_page_that_ends_with_a_topic_points_to_the_next_one(node: OpenNode) -> None:
    node.create("a", 2)
    assert _ask(node, "a", "z", limit=2).next_cursor == Cursor(topic_name="z", partition_index=0)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_page_has_at_least_one_partition(node: OpenNode, limit: int) -> None:
    node.create("a", 2)
    assert _pages(_ask(node, limit=limit)) == [("a", [0])]


def test_the_broker_limits_a_page_too(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"max.request.partition.size.limit": "1"})
    node.create("a", 2)
    assert _pages(_ask(node)) == [("a", [0])]
    node.close()


def test_a_cursor_past_the_end_of_its_topic_goes_on_with_the_next(node: OpenNode) -> None:
    node.create("a", 2)
    node.create("b")
    answer = _ask(node, cursor=Cursor(topic_name="a", partition_index=7))
    assert _pages(answer) == [("a", []), ("b", [0])]


def test_a_cursor_at_a_topic_that_went_away_goes_on_with_the_next(node: OpenNode) -> None:
    node.create("b")
    answer = _ask(node, cursor=Cursor(topic_name="a", partition_index=7))
    assert _pages(answer) == [("b", [0])]


@pytest.mark.parametrize(
    "cursor",
    [Cursor(topic_name="a", partition_index=0), Cursor(topic_name="b", partition_index=-1)],
)
def test_a_cursor_that_cannot_be_is_refused(node: OpenNode, cursor: Cursor) -> None:
    node.create("b")
    answer = _ask(node, "b", cursor=cursor)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("b", ErrorCode.INVALID_REQUEST)
    ]


def test_topics_that_are_not_there_are_told_one_by_one(node: OpenNode) -> None:
    node.create("here")
    answer = _ask(node, "here", "missing", "a b", "__consumer_offsets")
    assert {topic.name: topic.error_code for topic in answer.topics} == {
        "here": ErrorCode.NONE,
        "missing": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "a b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "__consumer_offsets": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert [topic.name for topic in answer.topics if topic.is_internal] == ["__consumer_offsets"]


def test_a_partition_whose_log_cannot_be_opened_has_no_leader(tmp_path: Path) -> None:
    # Where the directory of the partition would be, there is a file.
    node = OpenNode(tmp_path)
    (tmp_path / "broken-0").write_text("in the way")
    node.create("broken")
    (partition,) = _ask(node, "broken").topics[0].partitions
    assert (partition.leader_id, partition.offline_replicas) == (NO_LEADER, [NODE_ID])
    node.close()
