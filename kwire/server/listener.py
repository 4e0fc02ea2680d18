"""Accepting connections, within limits, and ending those that went quiet.

Limits are Kafka's: `max.connections` for all, `max.connections.per.ip` with overrides. A connection
over a limit is closed at once. Three clocks end a connection: no request within
`kwire.first.request.timeout.ms`, nothing at all for `connections.max.idle.ms`, and, while others
wait for memory, a frame that is still arriving after `SLOW_FRAME_S`.
"""

import errno
import logging
import socket
from collections import Counter

from kwire.clock import Clock
from kwire.config.broker import BrokerConfig
from kwire.config.endpoints import Endpoint
from kwire.errors import KwireError
from kwire.handlers.context import Peer
from kwire.server.complaints import Complaints
from kwire.server.connection import Connection, ConnectionEnd
from kwire.server.dispatch import Dispatch
from kwire.server.loop import SocketLoop
from kwire.server.memory import RequestMemory
from kwire.server.outbox import new_scratch
from kwire.tasks import Timer

BACKLOG = 1024
ACCEPTS_PER_TURN = 64
SLOW_FRAME_S = 30.0
SWEEP_S = 1.0
FULL_LINE_S = 60.0

_log = logging.getLogger(__name__)


class CannotListen(KwireError):
    """An address is taken, or not one of this machine's."""


class Listeners:
    """All listening sockets of a broker and every connection that came through them."""

    def __init__(
        self,
        config: BrokerConfig,
        dispatch: Dispatch,
        clock: Clock,
        loop: SocketLoop,
    ) -> None:
        self._config = config
        self._dispatch = dispatch
        self._clock = clock
        self._loop = loop
        self._memory = RequestMemory(config.queued_max_request_bytes)
        self._scratch = new_scratch()
        self._connections: set[Connection] = set()
        self._per_host: Counter[str] = Counter()
        self._sockets: list[tuple[socket.socket, str]] = []
        self._complaints = Complaints(_log, clock)
        self._full_again_at = -FULL_LINE_S
        self._sweep_timer: Timer | None = None

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def bind(self, endpoint: Endpoint) -> int:
        """Open listening sockets, not yet accepting; returns their port (0 asks for a free one)."""
        port = endpoint.port
        for family, host in _addresses(endpoint.host):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    # Both families of "everywhere" have a socket of their own.
                    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                sock.bind((host, port))
            except OSError as error:
                sock.close()
                raise CannotListen(f"cannot listen on {host}:{port}: {error.strerror}") from error
            sock.listen(BACKLOG)
            sock.setblocking(False)
            self._sockets.append((sock, endpoint.name))
            port = int(sock.getsockname()[1])
        return port

    def start(self) -> None:
        for sock, name in self._sockets:
            self._loop.add_reader(sock, self._accept, sock, name)
        self._sweep_timer = self._loop.call_later(SWEEP_S, self._sweep)

    def reconfigure(self, config: BrokerConfig) -> None:
        """Limits that changed hold for whoever comes from now on; nobody is sent away."""
        self._config = config

    def stop_accepting(self) -> None:
        for sock, _ in self._sockets:
            self._loop.remove_reader(sock)
            sock.close()
        self._sockets.clear()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()

    def close_connections(self) -> None:
        for connection in list(self._connections):
            connection.close()

    def _accept(self, listening: socket.socket, listener_name: str) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            try:
                sock, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._on_accept_error(error, listening, listener_name)
                return
            self._admit(sock, Peer(address[0], address[1], listener_name))

    def _on_accept_error(self, error: OSError, listening: socket.socket, name: str) -> None:
        """Out of descriptors: leave the backlog alone for a moment instead of spinning on it."""
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
            raise error
        self._say_full(error)
        self._loop.remove_reader(listening)
        self._loop.call_later(0.1, self._accept_again, listening, name)

    def _say_full(self, error: OSError) -> None:
        """It may last for hours: a line a minute is enough."""
        now = self._clock.monotonic()
        if now >= self._full_again_at:
            self._full_again_at = now + FULL_LINE_S
            self._complaints.say(f"cannot accept: {error.strerror}; raise the limit of open files")

    def _accept_again(self, listening: socket.socket, name: str) -> None:
        if any(sock is listening for sock, _ in self._sockets):
            self._loop.add_reader(listening, self._accept, listening, name)

    def _admit(self, sock: socket.socket, peer: Peer) -> None:
        refusal = self._over_limit(peer)
        if refusal is not None:
            self._complaints.say(f"connection refused peer={peer} reason={refusal}")
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._size_buffers(sock)
        self._per_host[peer.host] += 1
        connection = Connection(
            sock,
            peer,
            loop=self._loop,
            scheduler=self._dispatch.scheduler,
            conversation=self._dispatch.conversation(peer),
            memory=self._memory,
            scratch=self._scratch,
            max_frame_bytes=self._config.socket_request_max_bytes,
            clock=self._clock,
            on_end=self._on_end,
        )
        self._connections.add(connection)

    def _size_buffers(self, sock: socket.socket) -> None:
        """-1 leaves the size to the kernel, which tunes it by itself."""
        if self._config.socket_send_buffer_bytes > 0:
            size = self._config.socket_send_buffer_bytes
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        if self._config.socket_receive_buffer_bytes > 0:
            size = self._config.socket_receive_buffer_bytes
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)

    def _over_limit(self, peer: Peer) -> str | None:
        if len(self._connections) >= self._config.max_connections:
            return "max.connections"
        overrides = self._config.max_connections_per_ip_overrides
        allowed = overrides.get(peer.host, self._config.max_connections_per_ip)
        if self._per_host[peer.host] >= allowed:
            return "max.connections.per.ip"
        return None

    def _on_end(self, end: ConnectionEnd) -> None:
        self._connections.discard(end.connection)
        host = end.connection.peer.host
        self._per_host[host] -= 1
        if not self._per_host[host]:
            del self._per_host[host]
        if end.complaint is not None:
            self._complaints.say(f"connection closed peer={end.connection.peer} {end.complaint}")

    def _sweep(self) -> None:
        """Once a second: note who was active, end who is overdue, take back unused memory."""
        self._sweep_timer = self._loop.call_later(SWEEP_S, self._sweep)
        now = self._clock.monotonic()
        for connection in list(self._connections):
            if connection.was_active:
                connection.was_active = False
                connection.quiet_since = now
            complaint = self._offence(connection, now)
            if complaint is not None:
                connection.close(complaint)
            elif self._is_idle(connection, now):
                # Routine, not an offence: a client that comes back reconnects by itself.
                _log.debug("connection idle peer=%s", connection.peer)
                connection.close()
            else:
                connection.shrink()

    def _offence(self, connection: Connection, now: float) -> str | None:
        first_s = self._config.kwire_first_request_timeout_ms / 1000
        if not connection.had_request and now - connection.opened_at > first_s:
            return "no request within kwire.first.request.timeout.ms"
        since = connection.granted_at
        if since is not None and self._memory.is_short and now - since > SLOW_FRAME_S:
            return "its request arrives too slowly while others wait for memory"
        return None

    def _is_idle(self, connection: Connection, now: float) -> bool:
        idle_ms = self._config.connections_max_idle_ms
        if idle_ms < 0 or connection.is_waiting_for_us:
            return False
        return now - connection.quiet_since > idle_ms / 1000


def _addresses(host: str) -> list[tuple[int, str]]:
    """Where to listen for a host: a name may stand for an address of either family.

    Clients try all addresses of a name and complain of those that do not answer, so `localhost`
    and an empty host mean every address that a client would try.
    """
    try:
        found = socket.getaddrinfo(
            host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise CannotListen(f"cannot listen on {host}: {error.strerror}") from error
    addresses = list(dict.fromkeys((int(one[0]), str(one[4][0])) for one in found))
    usable = [one for one in addresses if one[0] == socket.AF_INET or _has_ipv6()]
    return usable or addresses


def _has_ipv6() -> bool:
    """A kernel without the family still resolves names to its addresses."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True
