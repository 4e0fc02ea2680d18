"""Too much of what would be harmless alone: connections, promises, slowness."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.watch import HELLO, peak_bytes, reset_peak
from compat_tests.bad_input.wire import i32
from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

MB = 1 << 20


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A kwire that is soon done with connections that say nothing."""
    broker = start_kwire(tmp_path / "data", {"kwire.first.request.timeout.ms": "500"})
    yield broker
    broker.stop()


def _connect(broker: BrokerProcess) -> socket.socket:
    host, port = broker.bootstrap.split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def test_more_connections_than_descriptors_pass_by(broker: BrokerProcess) -> None:
    client = Confluent(broker.bootstrap)
    client.create("kept")
    client.write("kept", [Sent(b"before")])
    resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (100, 100))
    with ExitStack() as held:
        for _ in range(500):
            held.enter_context(_connect(broker))
        # Their time without a request runs out, and there is room again.
        eventually(lambda: _answers(broker), bool, timeout_s=20)
    assert client.write("kept", [Sent(b"after")]) == [1]
    assert [one.value for one in client.read("kept", 2)] == [b"before", b"after"]


def test_promised_bytes_cost_nothing_until_they_come(broker: BrokerProcess) -> None:
    assert _answers(broker)
    reset_peak(broker.pid)
    before = peak_bytes(broker.pid)
    with ExitStack() as held:
        for _ in range(50):
            promising = held.enter_context(_connect(broker))
            promising.sendall(i32(100_000_000) + bytes(1000))
        assert _answers(broker)
        assert peak_bytes(broker.pid) - before < 32 * MB


def test_a_request_that_trickles_in_is_given_up(broker: BrokerProcess) -> None:
    with _connect(broker) as slow:
        slow.sendall(HELLO[:5])
        assert slow.recv(1) == b""


def test_a_client_that_never_reads_is_not_read_from(broker: BrokerProcess) -> None:
    client = Confluent(broker.bootstrap)
    client.create("kept")
    reset_peak(broker.pid)
    before = peak_bytes(broker.pid)
    with _connect(broker) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(1)
        with pytest.raises(TimeoutError):
            _send_for_ever(deaf)
        assert client.write("kept", [Sent(b"meanwhile")]) == [0]
        assert peak_bytes(broker.pid) - before < 64 * MB


def _send_for_ever(peer: socket.socket) -> None:
    while True:
        peer.sendall(HELLO * 1000)


def _answers(broker: BrokerProcess) -> bool:
    try:
        return exchange(broker.bootstrap, HELLO).answer is not None
    except OSError:
        return False
