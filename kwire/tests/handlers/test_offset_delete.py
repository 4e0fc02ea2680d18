"""OffsetDelete: a group forgets some partitions."""

from kwire.codec.messages.offset_delete import (
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, a_stable_member, commit, find_coordinator
from kwire.tests.handlers.nodes import OpenNode
from kwire.types import TopicPartition


def _delete(node: OpenNode, topic: str, *indexes: int, group: str = GROUP) -> OffsetDeleteResponse:
    partitions = [OffsetDeletePartition(partition_index=index) for index in indexes]
    topics = [OffsetDeleteTopic(name=topic, partitions=partitions)]
    answer = node.ask(OffsetDeleteRequest(group_id=group, topics=topics), 0)
    assert isinstance(answer, OffsetDeleteResponse)
    return answer


def _codes(answer: OffsetDeleteResponse) -> list[int]:
    assert answer.error_code == ErrorCode.NONE
    return [one.error_code for one in answer.topics[0].partitions]


def test_offsets_are_forgotten(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders", 2)
    commit(node, "orders", 5, 6)
    assert _codes(_delete(node, "orders", 1)) == [ErrorCode.NONE]
    assert list(node.node.groups.reading(GROUP).offsets.of(GROUP)) == [TopicPartition("orders", 0)]


def test_what_does_not_exist_is_refused(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders")
    commit(node, "orders", 5)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _codes(_delete(node, "orders", 0, 7)) == [ErrorCode.NONE, unknown]
    assert _codes(_delete(node, "nowhere", 0)) == [unknown]


def test_topics_that_members_read_are_kept(node: OpenNode) -> None:
    a_stable_member(node)
    node.create("orders")
    assert _codes(_delete(node, "orders", 0)) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]


def test_a_group_that_is_not_there_is_refused_as_a_whole(node: OpenNode) -> None:
    find_coordinator(node)
    answer = _delete(node, "orders", 0)
    assert (answer.error_code, answer.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    assert _delete(node, "orders", 0, group="").error_code == ErrorCode.INVALID_GROUP_ID
