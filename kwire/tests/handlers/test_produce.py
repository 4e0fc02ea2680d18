"""Produce: where batches land, and how a refusal is told in each version."""

import errno
import os
from typing import Any

import pytest

from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopic,
)
from kwire.errors import ErrorCode
from kwire.handlers import produce
from kwire.handlers.context import HangUp, Peer, RequestContext
from kwire.log.partition_log import PartitionLog
from kwire.tasks import Later
from kwire.tests.builders import a_batch, a_record
from kwire.tests.handlers.nodes import LISTENER, OpenNode

VERSIONS = range(3, 14)
NEWEST = 13


@pytest.fixture(autouse=True)
def _topic(node: OpenNode) -> None:
    node.create("orders", partitions=2)


def _request(
    node: OpenNode,
    batch: bytes | bytearray | None,
    *,
    topic: str = "orders",
    partition: int = 0,
    **options: Any,
) -> ProduceRequest:
    image = node.node.controller.image.topics.get(topic)
    data = ProducePartition(
        index=partition, records=None if batch is None else memoryview(bytearray(batch))
    )
    wanted = ProduceTopic(
        name=topic, topic_id=image.topic_id if image else b"?" * 16, partition_data=[data]
    )
    return ProduceRequest(**{"acks": 1, "timeout_ms": 1000, "topic_data": [wanted], **options})


def _only(response: ProduceResponse | None) -> ProducePartitionResponse:
    assert response is not None
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    return partition


def _produce(
    node: OpenNode, batch: bytes | bytearray | None, version: int = 9, **options: Any
) -> ProducePartitionResponse:
    return _only(node.ask(_request(node, batch, **options), version))


def _context(node: OpenNode, version: int = 9, client_id: str | None = None) -> RequestContext:
    return RequestContext(node.node, version, client_id, Peer("127.0.0.1", 50000, LISTENER))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_says_where_the_batch_landed(node: OpenNode, version: int) -> None:
    assert _produce(node, a_batch(3), version).base_offset == 0
    landed = _produce(node, a_batch(1), version)
    assert landed == ProducePartitionResponse(
        base_offset=3, log_start_offset=0 if version >= 5 else -1
    )


def test_partitions_of_one_request_are_answered_one_by_one(node: OpenNode) -> None:
    good, bad = a_batch(2), a_batch(1)
    bad[-1] ^= 1
    data = [
        ProducePartition(index=0, records=memoryview(good)),
        ProducePartition(index=1, records=memoryview(bad)),
        ProducePartition(index=2, records=memoryview(a_batch(1))),
    ]
    request = ProduceRequest(acks=1, topic_data=[ProduceTopic(name="orders", partition_data=data)])
    (topic,) = node.ask(request, 9).responses
    assert [(one.index, one.error_code) for one in topic.partition_responses] == [
        (0, ErrorCode.NONE),
        (1, ErrorCode.CORRUPT_MESSAGE),
        (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert [one.base_offset for one in topic.partition_responses] == [0, -1, -1]


def test_the_time_of_appending_is_told_where_the_topic_keeps_it(node: OpenNode) -> None:
    node.create("stamped", message_timestamp_type="LogAppendTime")
    landed = _produce(node, a_batch(1), topic="stamped")
    assert landed.log_append_time_ms == node.clock.now_ms()


def test_bad_records_are_named(node: OpenNode) -> None:
    node.create("compacted", cleanup_policy="compact")
    batch = a_batch([a_record(0, key=b"k"), a_record(1, key=None), a_record(2, key=None)])
    refused = _produce(node, batch, topic="compacted")
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [wrong.batch_index for wrong in refused.record_errors] == [1, 2]
    assert all(wrong.batch_index_error_message for wrong in refused.record_errors)
    assert refused.error_message
    assert refused.log_start_offset == 0


def test_a_topic_id_that_nobody_has_is_told_so(node: OpenNode) -> None:
    refused = _produce(node, a_batch(1), NEWEST, topic="nowhere")
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("batch", [None, b""])
def test_a_partition_without_records_is_refused(node: OpenNode, batch: bytes | None) -> None:
    assert _produce(node, batch).error_code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("acks", [2, -2, 100])
def test_acks_that_nobody_can_keep_are_refused(node: OpenNode, acks: int) -> None:
    assert _produce(node, a_batch(1), acks=acks).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert node.node.hosted.find("orders", 0).log.next_offset == 0


def test_all_replicas_are_one_on_one_node(node: OpenNode) -> None:
    node.create("careful", min_insync_replicas="2")
    assert _produce(node, a_batch(1), topic="careful", acks=-1).error_code == ErrorCode.NONE


def test_fewer_in_sync_replicas_than_demanded_refuse_only_acks_all(node: OpenNode) -> None:
    partition = node.node.hosted.find("orders", 0)
    partition.in_sync = ()
    assert _produce(node, a_batch(1), acks=-1).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert _produce(node, a_batch(1), acks=1).error_code == ErrorCode.NONE


def test_internal_topics_are_closed_to_all_but_the_admin_client(node: OpenNode) -> None:
    node.create("__consumer_offsets")
    request = _request(node, a_batch(1), topic="__consumer_offsets")
    answer = produce.handle(_context(node), request)
    assert isinstance(answer, ProduceResponse)
    assert _only(answer).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    answer = produce.handle(_context(node, client_id="__admin_client"), request)
    assert isinstance(answer, ProduceResponse)
    assert _only(answer).error_code == ErrorCode.NONE


def test_no_record_of_a_transaction_is_taken_that_nobody_could_end(node: OpenNode) -> None:
    batch = a_batch(1, producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    assert _produce(node, batch).error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert node.node.hosted.find("orders", 0).log.next_offset == 0


def test_a_batch_sent_again_is_answered_with_its_first_place(node: OpenNode) -> None:
    batches = [
        a_batch(2, producer_id=7, producer_epoch=0, base_sequence=sequence) for sequence in (0, 2)
    ]
    assert [_produce(node, batch).base_offset for batch in [*batches, batches[0]]] == [0, 2, 0]


def test_a_producer_that_left_something_out_is_told_where_the_log_starts(node: OpenNode) -> None:
    _produce(node, a_batch(2, producer_id=7, producer_epoch=1, base_sequence=0))
    gap = a_batch(1, producer_id=7, producer_epoch=1, base_sequence=5)
    fenced = a_batch(1, producer_id=7, producer_epoch=0, base_sequence=2)
    refused = [_produce(node, batch) for batch in (gap, fenced)]
    assert [(one.error_code, one.log_start_offset) for one in refused] == [
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0),
        (ErrorCode.INVALID_PRODUCER_EPOCH, 0),
    ]


def test_without_acks_there_is_no_answer(node: OpenNode) -> None:
    assert produce.handle(_context(node), _request(node, a_batch(1), acks=0)) is None
    assert node.node.hosted.find("orders", 0).log.next_offset == 1


def test_without_acks_an_error_closes_the_connection(node: OpenNode) -> None:
    request = _request(node, a_batch(1), topic="nowhere", acks=0)
    with pytest.raises(HangUp, match="UNKNOWN_TOPIC_OR_PARTITION"):
        produce.handle(_context(node), request)
    with pytest.raises(HangUp, match="UNKNOWN_SERVER_ERROR"):
        produce.refuse(_context(node), request, ErrorCode.UNKNOWN_SERVER_ERROR)


def test_a_full_disk_is_told_and_leaves_the_log_as_it_was(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert _produce(node, a_batch(1)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert _produce(node, a_batch(1)).base_offset == 0


def _durable(node: OpenNode) -> PartitionLog:
    node.create("durable", flush_messages="1")
    return node.node.hosted.find("durable", 0).log


def test_a_durable_topic_answers_after_the_flush_at_the_end_of_the_turn(node: OpenNode) -> None:
    log = _durable(node)
    answers = [node.begin(_request(node, a_batch(1), topic="durable"), 9) for _ in range(3)]
    assert [answer.done for answer in answers] == [False] * 3
    node.scheduler.end_turn()
    assert log.recovery_point == 3
    assert [_only(answer.value).base_offset for answer in answers] == [0, 1, 2]


def test_a_failed_flush_is_never_acknowledged(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    _durable(node)
    answer = node.begin(_request(node, a_batch(1), topic="durable"), 9)

    def broken(fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", broken)
        node.scheduler.end_turn()
    refused = _only(answer.value)
    assert (refused.error_code, refused.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)


def test_a_durable_topic_is_flushed_without_acks_too(node: OpenNode) -> None:
    log = _durable(node)
    assert (
        produce.handle(_context(node), _request(node, a_batch(1), topic="durable", acks=0)) is None
    )
    node.scheduler.end_turn()
    assert log.recovery_point == 1


def test_nothing_of_the_request_is_kept(node: OpenNode) -> None:
    """The connection's buffer is overwritten by the next request while an answer waits."""
    _durable(node)
    buffer = bytearray(a_batch(1))
    view = memoryview(buffer)
    request = ProduceRequest(
        acks=1,
        topic_data=[
            ProduceTopic(name="durable", partition_data=[ProducePartition(index=0, records=view)])
        ],
    )
    answer = produce.handle(_context(node), request)
    assert isinstance(answer, Later)
    del request
    view.release()
    buffer.clear()
    node.scheduler.end_turn()
    assert answer.done
