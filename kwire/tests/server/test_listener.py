"""Accepting: limits, time-outs, and what happens when descriptors run out."""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from kwire.config.broker import BrokerConfig
from kwire.config.endpoints import Endpoint
from kwire.handlers.context import Peer
from kwire.server.dispatch import Dispatch
from kwire.server.listener import SLOW_FRAME_S, CannotListen, Listeners
from kwire.server.memory import FREE_BYTES
from kwire.tests.server.loops import Echo, StepLoop

HERE = Endpoint("PLAINTEXT", "127.0.0.1", 0)


class _Dispatch:
    """Gives every connection the same echo."""

    def __init__(self, loop: StepLoop) -> None:
        self.scheduler = loop
        self.echo = Echo()
        self.peers: list[Peer] = []

    def conversation(self, peer: Peer) -> Echo:
        self.peers.append(peer)
        return self.echo


class _Hall:
    """A listening broker and the clients that came to it."""

    def __init__(self) -> None:
        self.loop = StepLoop()
        self.dispatch = _Dispatch(self.loop)
        self.clients: list[socket.socket] = []
        self.listeners: Listeners

    def open(self, **settings: Any) -> None:
        config = replace(BrokerConfig(), **settings)
        dispatch = cast(Dispatch, self.dispatch)
        self.listeners = Listeners(config, dispatch, self.loop.clock, self.loop)
        self.port = self.listeners.bind(HERE)
        self.listeners.start()

    def come(self, from_host: str = "127.0.0.1") -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port), 5, (from_host, 0))
        self.clients.append(sock)
        self.loop.settle()
        return sock

    def say(self, sock: socket.socket, body: bytes) -> None:
        sock.sendall(struct.pack(">i", len(body)) + body)
        self.loop.settle()

    def is_open(self, sock: socket.socket) -> bool:
        self.loop.settle()
        sock.setblocking(False)
        try:
            return sock.recv(1000) != b""
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False

    def close(self) -> None:
        self.listeners.stop_accepting()
        self.listeners.close_connections()
        for sock in self.clients:
            sock.close()


@pytest.fixture
def hall() -> Iterator[_Hall]:
    made = _Hall()
    yield made
    made.close()


def test_a_client_is_served(hall: _Hall) -> None:
    hall.open()
    client = hall.come()
    hall.say(client, b"hello")
    assert client.recv(100) == struct.pack(">i", 5) + b"hello"
    assert hall.dispatch.peers == [Peer("127.0.0.1", client.getsockname()[1], "PLAINTEXT")]
    assert hall.listeners.connection_count == 1


def test_a_port_in_use_is_an_error(hall: _Hall) -> None:
    hall.open()
    with pytest.raises(CannotListen, match="in use"):
        hall.listeners.bind(Endpoint("OTHER", "127.0.0.1", hall.port))


def test_no_more_connections_than_allowed_are_open(
    hall: _Hall, caplog: pytest.LogCaptureFixture
) -> None:
    hall.open(max_connections=2)
    first, _, third = hall.come(), hall.come(), hall.come()
    assert not hall.is_open(third)
    assert "max.connections" in caplog.text
    first.close()
    hall.loop.settle()
    assert hall.is_open(hall.come())


def test_each_address_has_its_own_limit(hall: _Hall, caplog: pytest.LogCaptureFixture) -> None:
    hall.open(max_connections_per_ip=1, max_connections_per_ip_overrides={"127.0.0.3": 2})
    hosts = ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.3"]
    clients = [hall.come(host) for host in hosts]
    assert [hall.is_open(client) for client in clients] == [True, False, True, True, True, False]
    assert "max.connections.per.ip" in caplog.text


def test_limits_that_changed_hold_for_whoever_comes_next(hall: _Hall) -> None:
    hall.open()
    first, second = hall.come(), hall.come("127.0.0.2")
    hall.listeners.reconfigure(replace(BrokerConfig(), max_connections=2))
    assert hall.is_open(first)
    assert hall.is_open(second)
    assert not hall.is_open(hall.come())
    hall.listeners.reconfigure(replace(BrokerConfig(), max_connections_per_ip=1))
    assert not hall.is_open(hall.come())
    assert hall.is_open(hall.come("127.0.0.3"))


@pytest.mark.parametrize("name", ["send", "receive"])
def test_the_buffers_of_a_connection_have_the_size_that_is_set(
    hall: _Hall, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    option = {"send": socket.SO_SNDBUF, "receive": socket.SO_RCVBUF}[name]
    sizes: list[int] = []
    set_option = socket.socket.setsockopt

    def note(sock: socket.socket, level: int, which: int, value: int) -> None:
        if (level, which) == (socket.SOL_SOCKET, option):
            sizes.append(value)
        set_option(sock, level, which, value)

    hall.open(**{f"socket_{name}_buffer_bytes": 12_345})
    monkeypatch.setattr(socket.socket, "setsockopt", note)
    hall.come()
    hall.listeners.reconfigure(replace(BrokerConfig(), **{f"socket_{name}_buffer_bytes": -1}))  # type: ignore[arg-type]  # ints
    hall.come()
    assert sizes == [12_345]


def test_a_client_that_says_nothing_is_let_go(hall: _Hall) -> None:
    hall.open(kwire_first_request_timeout_ms=5_000)
    silent, chatty = hall.come(), hall.come()
    hall.say(chatty, b"x")
    hall.loop.pass_time(4_900)
    assert hall.is_open(silent)
    hall.loop.pass_time(1_100)
    assert not hall.is_open(silent)
    assert hall.is_open(chatty)


def test_an_idle_client_is_let_go_without_a_complaint(
    hall: _Hall, caplog: pytest.LogCaptureFixture
) -> None:
    hall.open(connections_max_idle_ms=10_000)
    client = hall.come()
    hall.say(client, b"x")
    client.recv(100)
    for _ in range(10):
        hall.loop.pass_time(1_000)
    assert hall.is_open(client)
    for _ in range(3):
        hall.loop.pass_time(1_000)
    assert not hall.is_open(client)
    assert caplog.text == ""


def test_a_client_that_waits_for_us_is_never_idle(hall: _Hall) -> None:
    hall.open(connections_max_idle_ms=10_000)
    client = hall.come()
    hall.say(client, b"later")
    for _ in range(30):
        hall.loop.pass_time(1_000)
    assert hall.is_open(client)


def test_without_a_limit_nobody_is_idle(hall: _Hall) -> None:
    hall.open(connections_max_idle_ms=-1)
    client = hall.come()
    hall.say(client, b"x")
    hall.loop.pass_time(10**9)
    assert hall.is_open(client)


def test_a_slow_frame_gives_way_when_others_wait_for_memory(hall: _Hall) -> None:
    size = 3 * FREE_BYTES
    hall.open(queued_max_request_bytes=size + 100, socket_request_max_bytes=size)
    slow, other = hall.come(), hall.come()
    for client in (slow, other):
        hall.say(client, b"first")
        client.recv(100)
        client.sendall(struct.pack(">i", size) + b"x")
        hall.loop.settle()
    hall.loop.pass_time(int(SLOW_FRAME_S * 1000) + 2_000)
    assert not hall.is_open(slow)
    assert hall.is_open(other)


def test_running_out_of_descriptors_leaves_the_others_alone(
    hall: _Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hall.open()
    first = hall.come()
    real = socket.socket.accept

    def accept(self: socket.socket) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(socket.socket, "accept", accept)
    second = hall.come()
    hall.loop.pass_time(2_000)
    assert caplog.text.count("cannot accept") == 1
    hall.say(first, b"still there")
    assert first.recv(100)[4:] == b"still there"
    monkeypatch.setattr(socket.socket, "accept", real)
    hall.loop.pass_time(100)
    hall.say(second, b"at last")
    assert second.recv(100)[4:] == b"at last"


def test_stopping_refuses_newcomers_and_serves_on(hall: _Hall) -> None:
    hall.open()
    client = hall.come()
    hall.listeners.stop_accepting()
    with pytest.raises(ConnectionRefusedError):
        hall.come()
    hall.say(client, b"x")
    assert client.recv(100)[4:] == b"x"
    hall.listeners.close_connections()
    assert hall.listeners.connection_count == 0


def test_whoever_breaks_the_rules_is_complained_about(
    hall: _Hall, caplog: pytest.LogCaptureFixture
) -> None:
    hall.open(socket_request_max_bytes=1000)
    client = hall.come()
    client.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert not hall.is_open(client)
    assert "frame length" in caplog.text
    assert hall.listeners.connection_count == 0
