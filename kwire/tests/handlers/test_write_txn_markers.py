"""WriteTxnMarkers: other coordinators and administrators end transactions here."""

import pytest

from kwire.codec.messages.write_txn_markers import (
    TxnMarker,
    TxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer


def _write(node: OpenNode, marker: TxnMarker, version: int = 1) -> list[tuple[str, int, int]]:
    answer = node.ask(WriteTxnMarkersRequest(markers=[marker]), version)
    (result,) = answer.markers
    assert result.producer_id == marker.producer_id
    return [
        (topic.name, one.partition_index, one.error_code)
        for topic in result.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("is_commit", [True, False])
def test_a_marker_ends_the_transaction_of_a_partition(
    node: OpenNode, version: int, is_commit: bool
) -> None:
    node.create("orders", 2)
    producer = Producer(node)
    producer.init()
    producer.begin("orders", 0, 1)
    marker = TxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=is_commit,
        topics=[TxnMarkerTopic(name="orders", partition_indexes=[0, 7])],
        coordinator_epoch=3,
    )
    assert _write(node, marker, version) == [
        ("orders", 0, ErrorCode.NONE),
        ("orders", 7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    stable = [node.node.hosted.find("orders", index).last_stable_offset for index in (0, 1)]
    assert stable == [2, 0]
    marker.coordinator_epoch = 2
    assert _write(node, marker, version)[0][2] == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_group_counts_its_offsets_with_the_marker(node: OpenNode) -> None:
    node.create("orders")
    producer = Producer(node)
    producer.init()
    producer.add_offsets("g")
    where = node.node.groups.partition_of("g")
    node.node.groups.coordinators_of(["g"])
    node.scheduler.end_turn()
    producer.commit_offset("g", 5)
    marker = TxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=True,
        topics=[TxnMarkerTopic(name=where.topic, partition_indexes=[where.partition])],
    )
    assert _write(node, marker) == [(where.topic, where.partition, ErrorCode.NONE)]
    (committed,) = node.node.groups.reading("g").offsets.of("g").values()
    assert committed.offset == 5
