"""DescribeTransactions: how far the transactions of named ids are."""

from kwire.codec.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
    TransactionTopic,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer


def _describe(node: OpenNode, transactional_id: str = "tx") -> TransactionState:
    asked = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    (state,) = node.ask(asked, 0).transaction_states
    assert isinstance(state, TransactionState)
    return state


def test_a_transaction_is_described_as_it_goes_on(node: OpenNode) -> None:
    node.create("orders", 2)
    producer = Producer(node)
    producer.init(timeout_ms=5000)
    expected = TransactionState(
        transactional_id="tx",
        transaction_state="Empty",
        transaction_timeout_ms=5000,
        transaction_start_time_ms=-1,
        producer_id=producer.producer_id,
        producer_epoch=0,
    )
    assert _describe(node) == expected
    producer.add("orders", 1, 0)
    expected.transaction_state = "Ongoing"
    expected.transaction_start_time_ms = node.clock.now_ms()
    expected.topics = [TransactionTopic(topic="orders", partitions=[0, 1])]
    assert _describe(node) == expected
    producer.end()
    expected.transaction_state, expected.topics = "CompleteCommit", []
    assert _describe(node) == expected


def test_what_cannot_be_described_is_refused_one_by_one(node: OpenNode) -> None:
    assert _describe(node).error_code == ErrorCode.NOT_COORDINATOR
    Producer(node).init()
    assert _describe(node, "nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert _describe(node, "").error_code == ErrorCode.INVALID_REQUEST
