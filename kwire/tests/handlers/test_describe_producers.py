"""DescribeProducers: who writes to a partition."""

from kwire.codec.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersTopic,
    ProducerState,
)
from kwire.errors import ErrorCode
from kwire.tests.builders import A_TIMESTAMP, a_batch
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer


def test_producers_are_described_with_what_they_have_open(node: OpenNode) -> None:
    node.create("orders")
    node.append("orders", a_batch(3, producer_id=77, producer_epoch=1, base_sequence=0))
    producer = Producer(node, is_new=True)
    producer.init()
    producer.begin()
    topic = DescribeProducersTopic(name="orders", partition_indexes=[0, 5])
    found, missing = node.ask(DescribeProducersRequest(topics=[topic]), 0).topics[0].partitions
    plain, transactional = found.active_producers
    assert plain == ProducerState(
        producer_id=77,
        producer_epoch=1,
        last_sequence=2,
        last_timestamp=A_TIMESTAMP + 2,
        coordinator_epoch=-1,
    )
    assert transactional.producer_id == producer.producer_id
    assert transactional.current_txn_start_offset == 3
    assert missing.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_after_the_end_nothing_is_open(node: OpenNode) -> None:
    node.create("orders")
    producer = Producer(node, is_new=True)
    producer.init()
    producer.begin()
    producer.end()
    topic = DescribeProducersTopic(name="orders", partition_indexes=[0])
    (found,) = node.ask(DescribeProducersRequest(topics=[topic]), 0).topics[0].partitions
    (state,) = found.active_producers
    assert (state.producer_epoch, state.last_sequence) == (1, -1)
    assert (state.current_txn_start_offset, state.coordinator_epoch) == (-1, 0)
