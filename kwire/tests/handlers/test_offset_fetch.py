"""OffsetFetch: one group or many, by name and by id, in every version."""

from pathlib import Path

import pytest

from kwire.codec.internal import offsets
from kwire.codec.internal.offsets import CommittedOffset
from kwire.codec.messages.offset_fetch import (
    OffsetFetchGroup,
    OffsetFetchPartitionResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    OffsetFetchTopicResponse,
)
from kwire.coordinator.decision import StoredRecord
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, commit, find_coordinator
from kwire.tests.handlers.nodes import OpenNode

AN_ID = bytes(range(16))
NEWEST = 10


def _request(
    version: int,
    *topics: OffsetFetchTopic,
    is_for_all: bool = False,
    is_careful: bool = False,
    group_id: str = GROUP,
) -> OffsetFetchRequest:
    wanted = None if is_for_all else list(topics)
    if version >= 8:
        group = OffsetFetchGroup(group_id=group_id, topics=wanted)
        return OffsetFetchRequest(groups=[group], require_stable=is_careful)
    return OffsetFetchRequest(group_id=group_id, topics=wanted, require_stable=is_careful)


def _topics(version: int, answer: OffsetFetchResponse) -> list[OffsetFetchTopicResponse]:
    return answer.groups[0].topics if version >= 8 else answer.topics


def _read(answer: list[OffsetFetchTopicResponse]) -> list[tuple[int, int, str | None, int]]:
    return [
        (one.partition_index, one.committed_offset, one.metadata, one.error_code)
        for topic in answer
        for one in topic.partitions
    ]


@pytest.fixture
def committed(node: OpenNode) -> OpenNode:
    """A group that has committed 5 and 6 for two partitions of a topic."""
    find_coordinator(node)
    node.create("orders", 3)
    commit(node, "orders", 5, 6)
    return node


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_what_was_committed_is_told(committed: OpenNode, version: int) -> None:
    made = committed.node.controller.image.topics["orders"]
    wanted = OffsetFetchTopic(name="orders", topic_id=made.topic_id, partition_indexes=[0, 1, 2])
    answer = committed.ask(_request(version, wanted), version)
    assert _read(_topics(version, answer)) == [
        (0, 5, "a note", 0),
        (1, 6, "a note", 0),
        (2, -1, "", 0),
    ]


@pytest.mark.parametrize("version", range(2, NEWEST + 1))
def test_null_asks_for_everything(committed: OpenNode, version: int) -> None:
    topics = _topics(version, committed.ask(_request(version, is_for_all=True), version))
    assert _read(topics) == [(0, 5, "a note", 0), (1, 6, "a note", 0)]
    made = committed.node.controller.image.topics["orders"]
    if version >= NEWEST:
        assert topics[0].topic_id == made.topic_id
    else:
        assert topics[0].name == "orders"


@pytest.mark.parametrize("version", range(2, NEWEST + 1))
def test_a_group_that_is_not_there_has_committed_nothing(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    answer = node.ask(_request(version, is_for_all=True), version)
    assert _topics(version, answer) == []
    code = answer.groups[0].error_code if version >= 8 else answer.error_code
    assert code == ErrorCode.NONE


def test_many_groups_are_answered_one_by_one(committed: OpenNode) -> None:
    wanted = [OffsetFetchTopic(name="orders", partition_indexes=[0])]
    groups = [OffsetFetchGroup(group_id=name, topics=wanted) for name in (GROUP, "other")]
    answer = committed.ask(OffsetFetchRequest(groups=groups), 9)
    assert [one.group_id for one in answer.groups] == [GROUP, "other"]
    assert [_read(one.topics)[0][1] for one in answer.groups] == [5, -1]


def test_an_id_that_nobody_has_is_refused(committed: OpenNode) -> None:
    wanted = OffsetFetchTopic(topic_id=AN_ID, partition_indexes=[0])
    topics = _topics(NEWEST, committed.ask(_request(NEWEST, wanted), NEWEST))
    assert _read(topics) == [(0, -1, "", ErrorCode.UNKNOWN_TOPIC_ID)]


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_without_a_coordinator_the_group_is_refused(node: OpenNode, version: int) -> None:
    wanted = OffsetFetchTopic(name="orders", topic_id=AN_ID, partition_indexes=[0])
    answer = node.ask(_request(version, wanted), version)
    if version == 1:
        # There is no other place for it, and "nothing committed" would be a lie.
        assert _read(answer.topics) == [(0, -1, "", ErrorCode.NOT_COORDINATOR)]
        return
    code = answer.groups[0].error_code if version >= 8 else answer.error_code
    assert code == ErrorCode.NOT_COORDINATOR
    assert _topics(version, answer) == []


@pytest.mark.parametrize("version", [1, 7, 8])
def test_while_the_coordinator_loads_nothing_is_told(tmp_path: Path, version: int) -> None:
    node = OpenNode(tmp_path)
    find_coordinator(node)
    node.create("orders")
    commit(node, "orders", 5)
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    wanted = OffsetFetchTopic(name="orders", partition_indexes=[0])
    answer = node.ask(_request(version, wanted), version)
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if version == 1:
        assert _read(answer.topics) == [(0, -1, "", loading)]
    else:
        assert (answer.groups[0] if version >= 8 else answer).error_code == loading
    node.scheduler.end_turn()
    answer = node.ask(_request(version, wanted), version)
    assert _read(_topics(version, answer)) == [(0, 5, "a note", 0)]
    node.close()


def test_what_a_transaction_may_change_is_withheld_from_careful_readers(
    committed: OpenNode,
) -> None:
    groups = committed.node.groups.reading(GROUP)
    pending = offsets.write_value(CommittedOffset(9, -1, "", 0))
    key = offsets.write_key(GROUP, "orders", 0)
    groups.apply(StoredRecord(key, pending, offset=99, producer_id=7))
    wanted = OffsetFetchTopic(name="orders", partition_indexes=[0, 1])
    careful = committed.ask(_request(7, wanted, is_careful=True), 7)
    assert _read(careful.topics) == [
        (0, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT),
        (1, 6, "a note", 0),
    ]
    careless = committed.ask(_request(7, wanted), 7)
    assert careless.topics[0].partitions[0] == OffsetFetchPartitionResponse(
        partition_index=0, committed_offset=5, metadata="a note"
    )


def test_the_group_without_a_name_is_answered(node: OpenNode) -> None:
    find_coordinator(node)
    wanted = OffsetFetchTopic(name="orders", partition_indexes=[0])
    answer = node.ask(_request(7, wanted, group_id=""), 7)
    assert (answer.error_code, _read(answer.topics)) == (ErrorCode.NONE, [(0, -1, "", 0)])
