"""AddOffsetsToTxn: the group's log becomes part of a transaction."""

import pytest

from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer
from kwire.types import TopicPartition


@pytest.mark.parametrize("version", range(5))
def test_the_partition_of_the_group_is_added(node: OpenNode, version: int) -> None:
    producer = Producer(node)
    producer.init()
    assert producer.add_offsets("g", version) == ErrorCode.NONE
    known = node.node.transactions.reading("tx").transactions["tx"]
    (partition,) = known.partitions
    assert partition == node.node.groups.partition_of("g")
    assert isinstance(partition, TopicPartition)


@pytest.mark.parametrize("version", range(5))
def test_a_fenced_producer_adds_nothing(node: OpenNode, version: int) -> None:
    old, new = Producer(node), Producer(node)
    old.init()
    new.init()
    expected = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert old.add_offsets("g", version) == expected
