"""A writer's batches arrive once and in order, or the caller hears why not."""

from typing import Any

import pytest

from kwire.codec.apis import INIT_PRODUCER_ID, PRODUCE
from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.codec.messages.produce import (
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopicResponse,
    RecordError,
)
from kwire.codec.records.batch import parse_header
from kwire.codec.records.compression import Codec
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.failures import Disconnected, Refused
from kwire.peers.writer import LEADER_ONLY, NO_ANSWER, Writer
from kwire.tests.builders import some_records
from kwire.tests.peers.fake_broker import BreakOff
from kwire.tests.peers.fake_topics import FakeTopics


def refusal(code: ErrorCode, **told: Any) -> ProduceResponse:
    partition = ProducePartitionResponse(error_code=code, **told)
    return ProduceResponse(responses=[ProduceTopicResponse(partition_responses=[partition])])


def test_batches_are_numbered_so_that_a_broker_knows_repeats() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders", partitions=2)
        writer = Writer(client, "orders")
        assert writer.partitions == [0, 1]
        assert writer.append(0, some_records(3)) == 0
        assert writer.append(0, some_records(2)) == 3
        assert writer.append(1, some_records(1)) == 0
        headers = [parse_header(batch) for batch in topic.batches[0] + topic.batches[1]]
        assert [header.base_sequence for header in headers] == [0, 3, 0]
        assert {(header.producer_id, header.producer_epoch) for header in headers} == {(1, 0)}


def test_a_missing_topic_is_made() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        Writer(client, "fresh").append(0, some_records(1))
        assert len(broker.topics["fresh"].records()) == 1


def test_a_batch_is_sent_again_with_the_same_numbers_when_the_connection_breaks() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        writer = Writer(client, "orders")

        def break_off_twice(request: ProduceRequest) -> ProduceResponse | None:
            if len(broker.asked_for(PRODUCE)) < 3:
                raise BreakOff
            return broker.produce(request)

        broker.answers[PRODUCE] = break_off_twice
        assert writer.append(0, some_records(1)) == 0
        sent = [
            bytes(each.topic_data[0].partition_data[0].records)
            for each in broker.asked_for(PRODUCE)
        ]
        assert len(set(sent)) == 1
        assert len(topic.records()) == 1


def test_a_leader_that_moved_is_asked_again() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders", acks=LEADER_ONLY)

        def moved(_: ProduceRequest) -> ProduceResponse:
            broker.answers[PRODUCE] = broker.produce
            return refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER)

        broker.answers[PRODUCE] = moved
        assert writer.append(0, some_records(1)) == 0


def test_a_repeat_that_was_stored_already_is_no_error() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders")
        broker.answers[PRODUCE] = lambda _: refusal(ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
        assert writer.append(0, some_records(1)) is None


def test_without_idempotence_a_broken_connection_is_told_and_nothing_is_repeated() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders", acks=LEADER_ONLY)

        def break_off(_: ProduceRequest) -> ProduceResponse:
            raise BreakOff

        broker.answers[PRODUCE] = break_off
        with pytest.raises(Disconnected):
            writer.append(0, some_records(1))
        assert len(broker.asked_for(PRODUCE)) == 1
        assert broker.asked_for(INIT_PRODUCER_ID) == []


def test_no_answer_is_waited_for_when_none_is_wanted() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders", acks=NO_ANSWER)
        assert writer.append(0, some_records(1)) is None
        # The next answer on this connection comes after the broker has stored what came before.
        client.metadata([])
        assert len(broker.topics["orders"].records()) == 1


def test_a_refusal_tells_what_the_broker_said_of_the_records() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders")
        errors = [RecordError(batch_index=0, batch_index_error_message="no key")]
        broker.answers[PRODUCE] = lambda _: refusal(
            ErrorCode.INVALID_RECORD, error_message="bad records", record_errors=errors
        )
        with pytest.raises(Refused, match=r"partition 0: bad records; no key \(INVALID_RECORD\)"):
            writer.append(0, some_records(1))


def test_a_batch_is_compressed_as_asked() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        writer = Writer(client, "orders", codec=Codec.GZIP)
        writer.append(0, some_records(5))
        topic = broker.topics["orders"]
        assert parse_header(topic.batches[0][0]).codec == Codec.GZIP
        assert len(topic.records()) == 5


def test_a_coordinator_that_is_loading_is_asked_again_for_an_id() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:

        def loading(_: InitProducerIdRequest) -> InitProducerIdResponse:
            broker.answers[INIT_PRODUCER_ID] = broker.init_producer_id
            return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

        broker.answers[INIT_PRODUCER_ID] = loading
        assert Writer(client, "orders").append(0, some_records(1)) == 0
