"""EndTxn: how each version ends a transaction, and what it is told."""

import pytest

from kwire.codec.messages.end_txn import EndTxnRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("is_commit", [True, False])
def test_only_the_newest_version_gives_a_new_epoch(
    node: OpenNode, version: int, is_commit: bool
) -> None:
    node.create("orders")
    producer = Producer(node)
    producer.init()
    producer.begin()
    assert producer.end(is_commit=is_commit, version=version) == ErrorCode.NONE
    assert producer.epoch == (1 if version == 5 else 0)
    assert producer.init() == ErrorCode.NONE
    assert producer.epoch == (2 if version == 5 else 1)


@pytest.mark.parametrize("version", range(6))
def test_a_fenced_producer_is_told_in_words_it_knows(node: OpenNode, version: int) -> None:
    node.create("orders")
    old, new = Producer(node), Producer(node)
    old.init()
    new.init()
    expected = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert old.end(version=version) == expected


@pytest.mark.parametrize("version", range(5))
def test_nothing_can_be_ended_before_it_began(node: OpenNode, version: int) -> None:
    producer = Producer(node)
    producer.init()
    assert producer.end(version=version) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize(
    ("transactional_id", "code"),
    [("", ErrorCode.INVALID_REQUEST), ("nobody", ErrorCode.INVALID_PRODUCER_ID_MAPPING)],
)
def test_an_id_that_is_not_known_ends_nothing(
    node: OpenNode, transactional_id: str, code: ErrorCode
) -> None:
    Producer(node).init()
    request = EndTxnRequest(transactional_id=transactional_id, producer_id=1, producer_epoch=0)
    answer = node.ask(request, 5)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (code, -1, -1)


def test_without_its_topic_nothing_is_coordinated(node: OpenNode) -> None:
    request = EndTxnRequest(transactional_id="tx", producer_id=1, producer_epoch=0)
    assert node.ask(request, 3).error_code == ErrorCode.NOT_COORDINATOR
