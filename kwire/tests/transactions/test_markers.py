"""Markers in real logs: refused when they come late, and written once where that is asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.coordinator.decision import TransactionEnd
from kwire.errors import ErrorCode, KwireError, UnknownTopicOrPartition
from kwire.replication.partition import Partition
from kwire.tasks import now
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode
from kwire.transactions.markers import Markers, Written
from kwire.types import TopicPartition

ORDERS = TopicPartition("orders", 0)
OFFSETS = TopicPartition("offsets", 0)
PRODUCER = 7
EPOCH = 3
FENCED = ErrorCode.INVALID_PRODUCER_EPOCH


class Logs:
    """Two partitions with one open transaction each; the one of `offsets` belongs to the groups."""

    def __init__(self, node: OpenNode) -> None:
        self._node = node
        self.ended: list[tuple[int, TransactionEnd]] = []
        self.markers = Markers(
            node.node.hosted, node.node.group_commit, node.clock, OFFSETS.topic, self._end_offsets
        )
        for topic, index in (ORDERS, OFFSETS):
            node.create(topic)
            self.partition(TopicPartition(topic, index)).append_own(_batch())

    def partition(self, where: TopicPartition = ORDERS) -> Partition:
        return self._node.node.hosted.find(*where)

    def _end_offsets(self, index: int, end: TransactionEnd) -> Written:
        self.ended.append((index, end))
        return now(None)


def _batch() -> bytearray:
    return a_batch(
        1, producer_id=PRODUCER, producer_epoch=EPOCH, base_sequence=0, transactional=True
    )


def _end(epoch: int = EPOCH, coordinator_epoch: int = 0) -> TransactionEnd:
    return TransactionEnd(PRODUCER, epoch, coordinator_epoch, is_commit=True)


def _code(written: Written) -> ErrorCode | None:
    assert written.done
    return written.value.code if isinstance(written.value, KwireError) else None


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Logs]:
    node = OpenNode(tmp_path)
    yield Logs(node)
    node.close()


@pytest.mark.parametrize(
    ("epoch", "version", "code"),
    [
        (EPOCH - 1, 0, FENCED),
        (EPOCH, 0, None),
        (EPOCH + 1, 0, None),
        (EPOCH, 2, FENCED),
        (EPOCH + 1, 2, None),
    ],
)
def test_a_marker_of_version_2_must_have_an_epoch_of_its_own(
    logs: Logs, epoch: int, version: int, code: ErrorCode | None
) -> None:
    assert _code(logs.markers.write(_end(epoch), ORDERS, version)) == code
    assert logs.partition().last_stable_offset == (2 if code is None else 0)


def test_the_marker_of_an_older_coordinator_is_refused(logs: Logs) -> None:
    assert _code(logs.markers.write(_end(coordinator_epoch=5), ORDERS, 0)) is None
    fenced = logs.markers.write(_end(coordinator_epoch=4), ORDERS, 0)
    assert _code(fenced) == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_groups_write_their_markers_themselves(logs: Logs) -> None:
    assert _code(logs.markers.write(_end(), OFFSETS, 0)) is None
    assert logs.ended == [(0, _end())]
    assert logs.partition(OFFSETS).log.next_offset == 1


@pytest.mark.parametrize("where", [ORDERS, OFFSETS])
def test_what_has_ended_is_not_ended_again(logs: Logs, where: TopicPartition) -> None:
    stranger = _end()._replace(producer_id=PRODUCER + 1)
    assert _code(logs.markers.write_if_open(stranger, where, 0)) is None
    assert (logs.partition(where).log.next_offset, logs.ended) == (1, [])
    for _ in range(2):
        assert _code(logs.markers.write_if_open(_end(), ORDERS, 0)) is None
    assert logs.partition().log.next_offset == 2


def test_a_partition_that_is_gone_needs_no_marker_any_more(logs: Logs) -> None:
    gone = TopicPartition("gone", 0)
    assert _code(logs.markers.write(_end(), gone, 0)) == UnknownTopicOrPartition.code
    assert _code(logs.markers.write_if_open(_end(), gone, 0)) is None
