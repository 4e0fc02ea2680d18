"""A client of a cluster finds its brokers, and goes on where one of them leaves."""

import socket

import pytest

from kwire.codec.apis import DELETE_TOPICS, METADATA
from kwire.codec.messages.delete_topics import DeleteTopicsRequest
from kwire.codec.messages.metadata import (
    MetadataPartition,
    MetadataRequest,
    MetadataResponse,
    MetadataTopic,
)
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.connection import Address
from kwire.peers.failures import Disconnected, Refused, Unreachable
from kwire.tests.peers.fake_broker import BreakOff
from kwire.tests.peers.fake_topics import FakeTopics


def an_empty_place() -> Address:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return Address(*listener.getsockname())


def test_the_next_bootstrap_address_is_tried_when_one_does_not_answer() -> None:
    with FakeTopics() as broker, Client([an_empty_place(), broker.address]) as client:
        assert client.metadata([]).cluster_id == "fake"


def test_when_nobody_answers_every_address_is_named() -> None:
    one, other = an_empty_place(), an_empty_place()
    with Client([one, other]) as client, pytest.raises(Unreachable) as failed:
        client.metadata([])
    assert str(one) in str(failed.value)
    assert str(other) in str(failed.value)


def test_a_topic_comes_with_the_leader_of_each_partition() -> None:
    with FakeTopics(node_id=7) as broker, Client([broker.address]) as client:
        broker.add("orders", partitions=3)
        view = client.topic("orders")
        assert view.leaders == {0: 7, 1: 7, 2: 7}
        assert view.by_leader([2, 0]) == {7: [0, 2]}


def test_a_missing_topic_is_refused_at_once_and_not_created() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        with pytest.raises(Refused, match="topic nope: there is no such topic"):
            client.topic("nope")
        assert len(broker.asked_for(METADATA)) == 1
        assert broker.topics == {}


def test_a_topic_that_is_just_being_made_is_waited_for() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        broker.add("orders")

        def without_a_leader(request: MetadataRequest) -> MetadataResponse:
            answer = broker.metadata(request)
            answer.topics[0].partitions[0].error_code = ErrorCode.LEADER_NOT_AVAILABLE
            broker.answers[METADATA] = broker.metadata
            return answer

        broker.answers[METADATA] = without_a_leader
        assert client.topic("orders", create=True).leaders == {0: 1}
        assert len(broker.asked_for(METADATA)) == 2


def test_waiting_for_a_leader_ends() -> None:
    with FakeTopics() as broker, Client([broker.address], timeout_s=0.05) as client:
        leaderless = MetadataTopic(
            name="orders",
            partitions=[MetadataPartition(error_code=ErrorCode.LEADER_NOT_AVAILABLE, leader_id=-1)],
        )
        broker.answers[METADATA] = lambda _: MetadataResponse(topics=[leaderless])
        with pytest.raises(Refused, match="topic orders: LEADER_NOT_AVAILABLE"):
            client.topic("orders")


def test_a_connection_that_ended_while_idle_is_made_again() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        client.metadata([])

        def break_off_once(_: MetadataRequest) -> MetadataResponse:
            broker.answers[METADATA] = broker.metadata
            raise BreakOff

        broker.answers[METADATA] = break_off_once
        assert client.metadata([]).cluster_id == "fake"
        assert broker.connections == 2


def test_what_changes_a_topic_is_not_asked_twice() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        client.metadata([])

        def break_off(_: DeleteTopicsRequest) -> None:
            raise BreakOff

        broker.answers[DELETE_TOPICS] = break_off
        with pytest.raises(Disconnected):
            client.ask_controller(DELETE_TOPICS, DeleteTopicsRequest())
        assert len(broker.asked_for(DELETE_TOPICS)) == 1


def test_a_node_that_nobody_knows_is_unreachable() -> None:
    with (
        FakeTopics() as broker,
        Client([broker.address]) as client,
        pytest.raises(Unreachable, match="where node 99 is"),
    ):
        client.ask_node(99, METADATA, MetadataRequest(topics=None))


def test_after_trouble_the_topic_is_asked_for_until_a_broker_answers() -> None:
    with FakeTopics() as broker, Client([broker.address]) as client:
        broker.add("orders")
        left = [BreakOff, BreakOff, BreakOff]

        def recover(request: MetadataRequest) -> MetadataResponse:
            if left:
                raise left.pop()
            return broker.metadata(request)

        broker.answers[METADATA] = recover
        assert client.topic_after_trouble("orders").leaders == {0: 1}
