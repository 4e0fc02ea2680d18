"""AddPartitionsToTxn: by producers one transaction at a time, by brokers many."""

from typing import Any

import pytest

from kwire.codec.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer
from kwire.types import TopicPartition

ABORTABLE = ErrorCode.TRANSACTION_ABORTABLE


def _transaction(producer: Producer, *partitions: int, **more: Any) -> Any:
    fields = {
        "transactional_id": producer.name,
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "topics": [AddPartitionsToTxnTopic(name="orders", partitions=list(partitions))],
    }
    return AddPartitionsToTxnTransaction(**{**fields, **more})


def _ask_as_broker(node: OpenNode, *transactions: Any, version: int = 5) -> list[list[int]]:
    """The codes of each transaction's partitions."""
    answer = node.ask(AddPartitionsToTxnRequest(transactions=list(transactions)), version)
    assert answer.error_code == ErrorCode.NONE
    return [
        [
            result.partition_error_code
            for topic in transaction.topic_results
            for result in topic.results_by_partition
        ]
        for transaction in answer.results_by_transaction
    ]


@pytest.fixture
def producer(node: OpenNode) -> Producer:
    node.create("orders", 2)
    started = Producer(node)
    started.init()
    return started


@pytest.mark.parametrize("version", range(4))
def test_a_producer_adds_partitions(node: OpenNode, producer: Producer, version: int) -> None:
    assert producer.add("orders", 0, 1, version=version) == ErrorCode.NONE
    known = node.node.transactions.reading("tx").transactions["tx"]
    assert known.partitions == {TopicPartition("orders", 0), TopicPartition("orders", 1)}


@pytest.mark.parametrize("version", range(4))
def test_one_unknown_partition_keeps_all_out(producer: Producer, version: int) -> None:
    assert producer.add("orders", 0, 7, version=version) == ErrorCode.OPERATION_NOT_ATTEMPTED
    assert producer.add("orders", 7, 0, version=version) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert producer.add("bills", 0, version=version) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", range(4))
def test_a_fenced_producer_is_told_in_words_it_knows(
    node: OpenNode, producer: Producer, version: int
) -> None:
    Producer(node).init()
    expected = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert producer.add("orders", 0, version=version) == expected


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_add_for_many_transactions(
    node: OpenNode, producer: Producer, version: int
) -> None:
    stranger = _transaction(producer, 0, transactional_id="nobody")
    codes = _ask_as_broker(node, _transaction(producer, 0, 1), stranger, version=version)
    assert codes == [[ErrorCode.NONE] * 2, [ErrorCode.INVALID_PRODUCER_ID_MAPPING]]


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_may_only_look(node: OpenNode, producer: Producer, version: int) -> None:
    look = _transaction(producer, 0, 1, verify_only=True)
    assert _ask_as_broker(node, look, version=version) == [[ABORTABLE, ABORTABLE]]
    producer.add("orders", 0)
    assert _ask_as_broker(node, look, version=version) == [[ErrorCode.NONE, ABORTABLE]]
    fenced = _transaction(producer, 0, producer_epoch=9, verify_only=True)
    assert _ask_as_broker(node, fenced, version=version) == [[ErrorCode.PRODUCER_FENCED]]


def test_an_empty_id_is_no_transaction(node: OpenNode, producer: Producer) -> None:
    for verify_only in (False, True):
        empty = _transaction(producer, 0, transactional_id="", verify_only=verify_only)
        assert _ask_as_broker(node, empty) == [[ErrorCode.INVALID_REQUEST]]
