"""Produce within transactions: what is verified, what is added, and what is refused."""

from pathlib import Path

import pytest

from kwire.codec.messages.produce import ProduceRequest
from kwire.errors import ConcurrentTransactions, ErrorCode, NotCoordinator
from kwire.handlers import produce
from kwire.handlers.context import Peer, RequestContext
from kwire.tasks import Later, now
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer
from kwire.types import TopicPartition

BEFORE_ABORTABLE = [3, 8, 10]
ABORTABLE = 11
ADDING = 12

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def producer(node: OpenNode) -> Producer:
    node.create("orders", 2)
    started = Producer(node)
    started.init()
    return started


def _partitions(node: OpenNode) -> frozenset[TopicPartition]:
    return node.node.transactions.reading("tx").transactions["tx"].partitions


@pytest.mark.parametrize("version", [*BEFORE_ABORTABLE, ABORTABLE])
def test_older_clients_must_have_added_the_partition(producer: Producer, version: int) -> None:
    refused = ErrorCode.INVALID_TXN_STATE
    if version >= ABORTABLE:
        refused = ErrorCode.TRANSACTION_ABORTABLE
    assert producer.send(version=version) == refused
    producer.add()
    assert producer.send(version=version) == ErrorCode.NONE
    assert producer.send("orders", 1, version=version) == refused


def test_newer_clients_add_the_partition_with_its_first_records(
    node: OpenNode, producer: Producer
) -> None:
    assert producer.send(version=ADDING) == ErrorCode.NONE
    assert _partitions(node) == {ORDERS}


def test_only_the_first_records_are_asked_about(
    node: OpenNode, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer.add()
    producer.send()
    monkeypatch.setattr(node.node, "transactions", None)
    assert producer.send() == ErrorCode.NONE
    assert producer.send(version=ADDING) == ErrorCode.NONE


@pytest.mark.parametrize("version", [*BEFORE_ABORTABLE, ABORTABLE, ADDING])
def test_records_after_the_end_are_refused(producer: Producer, version: int) -> None:
    producer.begin()
    producer.end(version=5)
    producer.epoch -= 1
    assert producer.send(version=version) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("producer_id", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("epoch", ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
@pytest.mark.parametrize("version", [*BEFORE_ABORTABLE, ABORTABLE, ADDING])
def test_others_cannot_write_in_a_transaction(
    producer: Producer, field: str, code: ErrorCode, version: int
) -> None:
    producer.add()
    setattr(producer, field, getattr(producer, field) + 1)
    assert producer.send(version=version) == code


def test_what_producers_do_not_expect_is_to_be_sent_again(
    node: OpenNode, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = now(ConcurrentTransactions())
    monkeypatch.setattr(node.node.transactions, "add_partitions", lambda command: busy)
    assert producer.send(version=ADDING) == ErrorCode.NOT_ENOUGH_REPLICAS

    def refuse(*asked: object) -> None:
        raise NotCoordinator()

    monkeypatch.setattr(node.node.transactions, "missing", refuse)
    assert producer.send(version=ABORTABLE) == ErrorCode.NOT_ENOUGH_REPLICAS


def test_plain_records_need_no_transaction(node: OpenNode) -> None:
    node.create("orders")
    request = Producer(node).request()
    request.topic_data[0].partition_data[0].records = memoryview(a_batch(1))
    answer = node.ask(request, ADDING)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def test_records_of_two_producers_are_refused(node: OpenNode, producer: Producer) -> None:
    other = Producer(node, "other")
    other.init()
    topics = [producer.request().topic_data[0], other.request("orders", 1).topic_data[0]]
    request = ProduceRequest(acks=-1, transactional_id="tx", topic_data=topics)
    answer = node.ask(request, ADDING)
    codes = [topic.partition_responses[0].error_code for topic in answer.responses]
    assert codes == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2


def test_what_cannot_be_written_at_all_is_refused_for_that(
    node: OpenNode, producer: Producer
) -> None:
    answer = node.ask(producer.request("nowhere"), ADDING)
    refused = answer.responses[0].partition_responses[0].error_code
    assert refused == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    request = producer.request()
    request.topic_data[0].partition_data[0].records = memoryview(b"short")
    answer = node.ask(request, ADDING)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_RECORD


def test_without_verification_older_clients_are_trusted(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"transaction.partition.verification.enable": "false"})
    node.create("orders")
    producer = Producer(node)
    producer.init()
    assert producer.send(version=ABORTABLE) == ErrorCode.NONE
    node.close()


@pytest.mark.parametrize("acks", [-1, 0])
def test_records_are_kept_while_the_coordinator_waits_for_the_disk(
    node: OpenNode, producer: Producer, monkeypatch: pytest.MonkeyPatch, acks: int
) -> None:
    added: Later[None] = Later()
    monkeypatch.setattr(node.node.transactions, "add_partitions", lambda command: added)
    request = producer.request()
    request.acks = acks
    records = request.topic_data[0].partition_data[0].records
    ctx = RequestContext(node.node, ADDING, "a-test", Peer("127.0.0.1", 50000, "PLAINTEXT"))
    answer = produce.handle(ctx, request)
    assert records is not None
    records[:] = bytes(len(records))
    log = node.node.hosted.find("orders", 0).log
    assert log.next_offset == 0
    added.complete(None)
    assert log.next_offset == 1
    if acks == 0:
        assert answer is None
    else:
        assert isinstance(answer, Later)
        assert answer.done
