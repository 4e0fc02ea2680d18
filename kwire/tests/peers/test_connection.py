"""One connection: versions are settled first, and whatever breaks says what broke."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kwire.codec.apis import API_VERSIONS, CREATE_TOPICS, METADATA, PRODUCE
from kwire.codec.messages.metadata import MetadataRequest
from kwire.peers.connection import Address, Connection, parse_addresses
from kwire.peers.failures import Disconnected, NotSpoken, TookTooLong, Unreachable
from kwire.tests.peers.fake_broker import FakeBroker
from kwire.tests.peers.fake_topics import FakeTopics


@contextmanager
def connected(broker: FakeBroker) -> Iterator[Connection]:
    connection = Connection(broker.address, client_id="test", timeout_s=5)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def a_stranger(behave: Callable[[socket.socket], object]) -> Iterator[Address]:
    """A listener that is no broker: it does one thing with its first visitor and leaves."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            visitor, _ = listener.accept()
            with visitor:
                visitor.recv(65536)
                behave(visitor)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Address(*listener.getsockname())
        finally:
            thread.join()


def test_the_newest_version_that_both_sides_speak_is_used() -> None:
    with FakeTopics() as broker:
        broker.newest[METADATA] = 5
        with connected(broker) as connection:
            assert connection.version_of(METADATA) == 5
            assert connection.version_of(CREATE_TOPICS) == CREATE_TOPICS.versions[1]
            answer = connection.request(METADATA, MetadataRequest(topics=None))
            assert answer.cluster_id == "fake"


def test_a_broker_that_knows_only_old_apiversions_is_asked_again_in_the_oldest() -> None:
    with FakeTopics() as broker:
        broker.newest[API_VERSIONS] = 2
        with connected(broker) as connection:
            assert connection.version_of(METADATA) == METADATA.versions[1]


def test_what_a_broker_does_not_serve_is_not_asked() -> None:
    with FakeBroker() as broker, connected(broker) as connection:
        with pytest.raises(NotSpoken, match="does not serve Metadata"):
            connection.request(METADATA, MetadataRequest(topics=None))
        assert len(broker.asked) == 1


def test_versions_that_only_seem_to_be_served_do_not_count() -> None:
    with FakeTopics() as broker:
        broker.newest[PRODUCE] = 2
        with connected(broker) as connection, pytest.raises(NotSpoken):
            connection.version_of(PRODUCE)


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address(*listener.getsockname())
    with pytest.raises(Unreachable, match=rf"no broker at {address}: connection refused"):
        Connection(address, client_id="test", timeout_s=5)


def test_a_server_of_another_protocol_is_recognised() -> None:
    page = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with (
        a_stranger(lambda visitor: visitor.sendall(page)) as address,
        pytest.raises(Disconnected, match="does not speak Kafka's protocol"),
    ):
        Connection(address, client_id="test", timeout_s=5)


def test_a_connection_that_ends_before_the_answer_says_so() -> None:
    with (
        a_stranger(lambda visitor: None) as address,
        pytest.raises(Disconnected, match="closed the connection"),
    ):
        Connection(address, client_id="test", timeout_s=5)


def test_an_answer_to_another_question_is_not_taken() -> None:
    wrong = (10).to_bytes(4, "big") + (77).to_bytes(4, "big") + bytes(6)
    with (
        a_stranger(lambda visitor: visitor.sendall(wrong)) as address,
        pytest.raises(Disconnected),
    ):
        Connection(address, client_id="test", timeout_s=5)


def test_silence_takes_too_long() -> None:
    gone = threading.Event()
    with a_stranger(lambda visitor: gone.wait(10)) as address:
        with pytest.raises(TookTooLong, match="did not answer in time"):
            Connection(address, client_id="test", timeout_s=0.05)
        gone.set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost", [Address("localhost", 9092)]),
        ("a:1,b:2", [Address("a", 1), Address("b", 2)]),
        (" a:1 , b ", [Address("a", 1), Address("b", 9092)]),
        ("[::1]:9093", [Address("::1", 9093)]),
        ("[::1]", [Address("::1", 9092)]),
    ],
)
def test_addresses_are_hosts_with_or_without_a_port(text: str, expected: list[Address]) -> None:
    assert parse_addresses(text) == expected


@pytest.mark.parametrize(
    "text", ["", ",", ":9092", "host:", "host:port", "host:0", "host:70000", "PLAINTEXT://host:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_addresses(text)


def test_an_address_reads_as_it_is_written() -> None:
    assert [str(each) for each in parse_addresses("a:1,[::1]:2")] == ["a:1", "[::1]:2"]
