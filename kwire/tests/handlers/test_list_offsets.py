"""ListOffsets: the beginning, the end, and the first record of a time."""

import pytest

from kwire.codec.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kwire.controller.image import PartitionState
from kwire.errors import ErrorCode
from kwire.handlers.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    READ_COMMITTED,
)
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

NEWEST = 11
NOTHING = (-1, -1, -1)


@pytest.fixture(autouse=True)
def _a_topic(node: OpenNode) -> None:
    node.create("orders")


def _answer(
    node: OpenNode,
    timestamp: int,
    *,
    version: int = NEWEST,
    topic: str = "orders",
    partition: int = 0,
    current_epoch: int = -1,
    isolation_level: int = 0,
) -> ListOffsetsPartitionResponse:
    wanted = ListOffsetsPartition(
        partition_index=partition, current_leader_epoch=current_epoch, timestamp=timestamp
    )
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
    )
    (answered,) = node.ask(request, version).topics
    assert answered.name == topic
    (found,) = answered.partitions
    assert isinstance(found, ListOffsetsPartitionResponse)
    assert found.partition_index == partition
    return found


def _find(node: OpenNode, timestamp: int, version: int = NEWEST) -> tuple[int, int, int]:
    """Offset, timestamp and leader epoch of what was found."""
    found = _answer(node, timestamp, version=version)
    assert found.error_code == ErrorCode.NONE
    return found.offset, found.timestamp, found.leader_epoch


def _lead(node: OpenNode, epoch: int) -> None:
    ours = (NODE_ID,)
    node.node.hosted.find("orders", 0).follow(PartitionState(ours, ours, NODE_ID, epoch))


def test_an_empty_log_begins_and_ends_at_0_in_the_current_epoch(node: OpenNode) -> None:
    _lead(node, 2)
    assert _find(node, EARLIEST) == (0, -1, 2)
    assert _find(node, LATEST) == (0, -1, 2)
    assert _find(node, MAX_TIMESTAMP) == NOTHING
    assert _find(node, A_TIMESTAMP) == NOTHING


def test_the_end_is_the_offset_that_comes_next_and_the_start_moves(node: OpenNode) -> None:
    node.append("orders", a_batch(5))
    _lead(node, 2)
    assert _find(node, LATEST) == (5, -1, 2)
    node.node.hosted.find("orders", 0).delete_records_before(3)
    assert _find(node, EARLIEST) == (3, -1, 0)
    assert _find(node, EARLIEST_LOCAL) == (3, -1, 0)


@pytest.mark.parametrize(
    ("timestamp", "offset"),
    [(0, 0), (A_TIMESTAMP, 0), (A_TIMESTAMP + 1, 1), (A_TIMESTAMP + 4, 4)],
)
def test_a_time_is_found_at_the_first_record_not_before_it(
    node: OpenNode, timestamp: int, offset: int
) -> None:
    node.append("orders", a_batch(3))
    node.append("orders", a_batch(3, timestamp=A_TIMESTAMP + 3))
    assert _find(node, timestamp) == (offset, A_TIMESTAMP + offset, 0)


def test_a_time_after_the_last_record_is_found_nowhere(node: OpenNode) -> None:
    node.append("orders", a_batch(3))
    assert _find(node, A_TIMESTAMP + 3) == NOTHING


def test_the_newest_record_is_found_wherever_it_lies(node: OpenNode) -> None:
    newest = a_record(1, timestamp=A_TIMESTAMP + 100)
    node.append("orders", a_batch([a_record(0), newest, a_record(2)]))
    node.append("orders", a_batch(2))
    assert _find(node, MAX_TIMESTAMP) == (1, A_TIMESTAMP + 100, 0)


@pytest.mark.parametrize("timestamp", [LATEST_TIERED, EARLIEST_PENDING_UPLOAD])
def test_nothing_is_in_tiered_storage(node: OpenNode, timestamp: int) -> None:
    node.append("orders", a_batch(3))
    assert _find(node, timestamp) == NOTHING


@pytest.mark.parametrize(
    ("timestamp", "since"),
    [
        (LATEST, 1),
        (EARLIEST, 1),
        (MAX_TIMESTAMP, 7),
        (EARLIEST_LOCAL, 8),
        (LATEST_TIERED, 9),
        (EARLIEST_PENDING_UPLOAD, 11),
        (-7, NEWEST + 1),
    ],
)
def test_each_special_timestamp_may_be_asked_for_since_its_version(
    node: OpenNode, timestamp: int, since: int
) -> None:
    node.append("orders", a_batch(1))
    for version in range(1, NEWEST + 1):
        code = ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION
        assert _answer(node, timestamp, version=version).error_code == code


def test_epochs_are_told_from_version_4_on(node: OpenNode) -> None:
    node.append("orders", a_batch(1))
    assert _find(node, LATEST, version=3) == (1, -1, -1)
    assert _find(node, LATEST, version=4) == (1, -1, 0)


def test_committed_readers_see_the_end_of_what_is_decided(node: OpenNode) -> None:
    node.append("orders", a_batch(2))
    assert _answer(node, LATEST, isolation_level=READ_COMMITTED).offset == 2


def test_an_isolation_level_that_nobody_knows_is_refused(node: OpenNode) -> None:
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    assert _answer(node, LATEST, isolation_level=2).error_code == code


def test_a_client_with_another_idea_of_the_leadership_is_told_so(node: OpenNode) -> None:
    _lead(node, 3)
    assert _answer(node, LATEST, current_epoch=3).error_code == ErrorCode.NONE
    assert _answer(node, LATEST, current_epoch=2).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert _answer(node, LATEST, current_epoch=4).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_what_is_not_here_is_unknown(node: OpenNode) -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _answer(node, LATEST, topic="missing").error_code == code
    assert _answer(node, LATEST, partition=7) == ListOffsetsPartitionResponse(
        partition_index=7, error_code=code
    )


def test_a_partition_asked_for_twice_is_refused_once(node: OpenNode) -> None:
    twice = [ListOffsetsPartition(timestamp=LATEST), ListOffsetsPartition(timestamp=EARLIEST)]
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name="orders", partitions=twice)]
    )
    (topic,) = node.ask(request, NEWEST).topics
    assert topic.partitions == [ListOffsetsPartitionResponse(error_code=ErrorCode.INVALID_REQUEST)]
