"""A reader sees every record that is there to be seen, from where it starts, once."""

import pytest

from kwire.codec.apis import FETCH, METADATA
from kwire.codec.messages.fetch import (
    AbortedTransaction,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopicResponse,
)
from kwire.codec.messages.metadata import MetadataRequest, MetadataResponse
from kwire.codec.records.control import marker_key, marker_value
from kwire.codec.records.record import Record
from kwire.errors import CorruptMessage, ErrorCode
from kwire.peers.client import Client
from kwire.peers.failures import Refused, Unreachable
from kwire.peers.reader import EARLIEST, LATEST, Reader, offsets_at
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.peers.fake_broker import BreakOff
from kwire.tests.peers.fake_topics import FakeTopics


def read(reader: Reader) -> list[tuple[int, int]]:
    """Partition and offset of all that one round brings."""
    return [(each.partition, record.offset) for each in reader.poll() for record in each.records]


def test_records_of_all_partitions_are_read_in_order() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders", partitions=2)
        topic.append(0, a_batch(2))
        topic.append(1, a_batch(1))
        topic.append(0, a_batch(1))
        reader = Reader(client, client.topic("orders"), {0: 0, 1: 0})
        assert not reader.is_at_end()
        assert read(reader) == [(0, 0), (0, 1), (0, 2), (1, 0)]
        assert reader.is_at_end()
        assert reader.positions == {0: 3, 1: 1}


def test_a_start_inside_a_batch_leaves_out_what_is_before() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        broker.add("orders").append(0, a_batch(5))
        reader = Reader(client, client.topic("orders"), {0: 3})
        assert read(reader) == [(0, 3), (0, 4)]


def test_an_offset_that_is_not_there_is_refused_with_its_place() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        broker.add("orders").append(0, a_batch(5))
        reader = Reader(client, client.topic("orders"), {0: 9})
        with pytest.raises(Refused, match=r"topic orders, partition 0, offset 9: .*no such offset"):
            list(reader.poll())


def test_a_reader_goes_on_where_it_was_after_the_connection_broke() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        broker.add("orders").append(0, a_batch(2))
        reader = Reader(client, client.topic("orders"), {0: 0})
        assert len(read(reader)) == 2

        def break_off(_: FetchRequest) -> FetchResponse:
            raise BreakOff

        broker.answers[FETCH] = break_off
        assert read(reader) == []
        broker.answers[FETCH] = broker.fetch
        broker.topics["orders"].append(0, a_batch(1))
        assert read(reader) == [(0, 2)]


def test_a_leader_that_moved_is_looked_up_again() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        topic.append(0, a_batch(1))
        reader = Reader(client, client.topic("orders"), {0: 0})
        moved = FetchPartitionResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
        answer = FetchTopicResponse(topic_id=topic.topic_id, partitions=[moved])
        broker.answers[FETCH] = lambda _: FetchResponse(responses=[answer])
        asked_before = len(broker.asked_for(METADATA))
        assert read(reader) == []
        assert len(broker.asked_for(METADATA)) == asked_before + 1
        broker.answers[FETCH] = broker.fetch
        assert read(reader) == [(0, 0)]


def test_a_leader_that_stays_away_is_not_waited_for_for_ever() -> None:
    with FakeTopics() as broker, Client([broker.address], timeout_s=0.05) as client:
        broker.add("orders")
        reader = Reader(client, client.topic("orders"), {0: 0})

        def elsewhere(request: MetadataRequest) -> MetadataResponse:
            answer = broker.metadata(request)
            answer.brokers[0].port = 1
            return answer

        broker.answers[METADATA] = elsewhere
        client.topic("orders")
        assert read(reader) == []
        with pytest.raises(Unreachable, match=r"127.0.0.1:1: .* says that node 1 is there"):
            read(reader)


def test_a_partition_that_stays_without_a_leader_is_told() -> None:
    with FakeTopics() as broker, Client([broker.address], timeout_s=0.05) as client:
        topic = broker.add("orders")
        reader = Reader(client, client.topic("orders"), {0: 0})
        moved = FetchPartitionResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
        answer = FetchTopicResponse(topic_id=topic.topic_id, partitions=[moved])
        broker.answers[FETCH] = lambda _: FetchResponse(responses=[answer])
        assert read(reader) == []
        with pytest.raises(Refused, match="partition 0, offset 0: NOT_LEADER_OR_FOLLOWER"):
            read(reader)


def test_bytes_that_changed_on_the_way_are_noticed() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        topic.append(0, a_batch(1))
        damaged = bytearray(topic.batches[0][0])
        damaged[-1] ^= 1
        topic.batches[0] = [bytes(damaged)]
        reader = Reader(client, client.topic("orders"), {0: 0})
        with pytest.raises(CorruptMessage, match="offset 0"):
            list(reader.poll())


def transactional(value: bytes, producer_id: int) -> bytearray:
    return a_batch(
        [a_record(value=value)],
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
    )


def a_marker(producer_id: int, *, is_abort: bool, is_emptied: bool = False) -> bytearray:
    marker = Record(0, A_TIMESTAMP, marker_key(is_abort=is_abort), marker_value(0))
    return a_batch(
        [] if is_emptied else [marker],
        producer_id=producer_id,
        producer_epoch=0,
        transactional=True,
        control=True,
    )


def values(reader: Reader) -> list[bytes | None]:
    return [record.value for each in reader.poll() for record in each.records]


def read_with_aborted(
    broker: FakeTopics, client: Client, aborted: list[AbortedTransaction] | None
) -> list[bytes | None]:
    def fetch(request: FetchRequest) -> FetchResponse:
        answer = broker.fetch(request)
        answer.responses[0].partitions[0].aborted_transactions = aborted
        return answer

    broker.answers[FETCH] = fetch
    reader = Reader(client, client.topic("orders"), {0: 0}, committed=aborted is not None)
    found = values(reader)
    assert reader.is_at_end()
    return found


def test_records_of_aborted_transactions_are_hidden_and_later_ones_are_not() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        for batch in (
            transactional(b"aborted", 1),
            transactional(b"committed by another", 2),
            a_marker(1, is_abort=True),
            a_marker(2, is_abort=False),
            transactional(b"second try", 1),
            a_marker(1, is_abort=False),
            a_batch([a_record(value=b"plain")]),
        ):
            topic.append(0, batch)
        aborted = [AbortedTransaction(producer_id=1, first_offset=0)]
        assert read_with_aborted(broker, client, aborted) == [
            b"committed by another",
            b"second try",
            b"plain",
        ]


def test_uncommitted_reading_shows_all_but_the_markers() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        topic.append(0, transactional(b"aborted", 1))
        topic.append(0, a_marker(1, is_abort=True))
        assert read_with_aborted(broker, client, None) == [b"aborted"]


def test_a_marker_of_which_compaction_left_only_the_header_is_passed_over() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders")
        topic.append(0, transactional(b"aborted", 1))
        topic.append(0, a_marker(1, is_abort=True, is_emptied=True))
        topic.append(0, a_batch([a_record(value=b"plain")]))
        aborted = [AbortedTransaction(producer_id=1, first_offset=0)]
        assert read_with_aborted(broker, client, aborted) == [b"plain"]


def test_times_become_offsets_and_beyond_the_last_record_is_the_end() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        topic = broker.add("orders", partitions=4)
        for partition in range(4):
            topic.append(partition, a_batch(3))
        times = {0: EARLIEST, 1: LATEST, 2: A_TIMESTAMP + 1, 3: A_TIMESTAMP + 99}
        found = offsets_at(client, client.topic("orders"), times)
        assert found == {0: 0, 1: 3, 2: 1, 3: 3}
