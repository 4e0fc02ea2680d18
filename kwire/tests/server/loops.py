"""A loop that runs when a test says so, and a client's end of a connection."""

import select
import socket
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from kwire.clock import ManualClock
from kwire.handlers.context import Peer
from kwire.server.connection import Answering, Connection, ConnectionEnd
from kwire.server.dispatch import Answer, LaterAnswer
from kwire.server.memory import RequestMemory
from kwire.server.outbox import new_scratch
from kwire.tasks import Later

T = TypeVar("T")

A_PEER = Peer("127.0.0.1", 50000, "PLAINTEXT")
MAX_TURNS = 10_000


class StepTimer:
    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self.due = due
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class StepLoop:
    """Both `SocketLoop` and `Scheduler`: sockets are real, time and the pool are the test's."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.readers: dict[socket.socket, Callable[[], None]] = {}
        self.writers: dict[socket.socket, Callable[[], None]] = {}
        self.pool: list[Callable[[], None]] = []
        self._soon: list[Callable[[], None]] = []
        self._timers: list[StepTimer] = []

    def add_reader(self, fd: socket.socket, callback: Callable[..., Any], *args: Any) -> None:
        self.readers[fd] = lambda: callback(*args)

    def remove_reader(self, fd: socket.socket) -> bool:
        return self.readers.pop(fd, None) is not None

    def add_writer(self, fd: socket.socket, callback: Callable[..., Any], *args: Any) -> None:
        self.writers[fd] = lambda: callback(*args)

    def remove_writer(self, fd: socket.socket) -> bool:
        return self.writers.pop(fd, None) is not None

    def call_soon(self, callback: Callable[..., Any], *args: Any) -> None:
        self._soon.append(lambda: callback(*args))

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> StepTimer:
        timer = StepTimer(self.clock.monotonic() + delay, lambda: callback(*args))
        self._timers.append(timer)
        return timer

    def in_pool(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        def run() -> None:
            try:
                outcome: T | Exception = work()
            except Exception as error:
                outcome = error
            done(outcome)

        self.pool.append(run)

    def turn(self) -> bool:
        """One turn: ready sockets, then what was to come soon. False if there was nothing."""
        soon, self._soon = self._soon, []
        for callback in soon:
            callback()
        readable, writable, _ = select.select(list(self.readers), list(self.writers), [], 0)
        for sock in readable:
            if sock in self.readers:
                self.readers[sock]()
        for sock in writable:
            if sock in self.writers:
                self.writers[sock]()
        return bool(soon or readable or writable)

    def settle(self) -> None:
        """Turn until nothing happens any more."""
        for _ in range(MAX_TURNS):
            if not self.turn():
                return
        raise AssertionError("the loop does not come to rest")

    def run_pool(self) -> None:
        """Let the threads do what they were given, then settle."""
        waiting, self.pool = self.pool, []
        for work in waiting:
            work()
        self.settle()

    def pass_time(self, ms: int) -> None:
        """Let the clock move and call the timers that are due."""
        self.clock.advance(ms)
        due = [timer for timer in self._timers if timer.due <= self.clock.monotonic()]
        self._timers = [timer for timer in self._timers if timer not in due]
        for timer in due:
            if not timer.is_cancelled:
                timer.callback()
        self.settle()


class Echo:
    """Answers each frame with its own bytes, except for what a test makes special.

    A frame that starts with `later` is answered when the test completes it; `silent` never is.
    """

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.laters: dict[bytes, Later[bytes]] = {}

    def answer(self, frame: memoryview) -> Answer | LaterAnswer | None:
        asked = bytes(frame)
        self.seen.append(asked)
        if asked.startswith(b"silent"):
            return None
        if asked.startswith(b"later"):
            self.laters[asked] = Later()
            return LaterAnswer(self.laters[asked], framed)
        return framed(asked)


def framed(body: bytes) -> Answer:
    return [struct.pack(">i", len(body)) + body], len(body) + 4


class Client:
    """The other end of a connection under test, on a loop that moves by steps."""

    def __init__(
        self,
        conversation: Answering,
        *,
        loop: StepLoop | None = None,
        memory: RequestMemory | None = None,
        max_frame_bytes: int = 100_000_000,
    ) -> None:
        self.loop = loop or StepLoop()
        self.ends: list[ConnectionEnd] = []
        self.sock, theirs = socket.socketpair()
        self.sock.setblocking(False)
        theirs.setblocking(False)
        self.connection = Connection(
            theirs,
            A_PEER,
            loop=self.loop,
            scheduler=self.loop,
            conversation=conversation,
            memory=memory or RequestMemory(-1),
            scratch=new_scratch(),
            max_frame_bytes=max_frame_bytes,
            clock=self.loop.clock,
            on_end=self.ends.append,
        )
        self._received = b""

    @property
    def is_closed(self) -> bool:
        return bool(self.ends)

    def send(self, *bodies: bytes) -> None:
        """Send frames in one go and let the broker work."""
        self.send_raw(b"".join(struct.pack(">i", len(body)) + body for body in bodies))

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, however many there are, and let the broker work."""
        rest = memoryview(data)
        for _ in range(MAX_TURNS):
            try:
                rest = rest[self.sock.send(rest) :]
            except (BlockingIOError, BrokenPipeError):
                if not self.loop.turn():
                    return
            if not rest:
                break
        self.loop.settle()

    def receive(self) -> list[bytes]:
        """Every whole answer that has arrived, without its length."""
        for _ in range(MAX_TURNS):
            try:
                data = self.sock.recv(1 << 20)
            except BlockingIOError:
                if not self.loop.turn():
                    break
                continue
            if not data:
                break
            self._received += data
        frames = []
        while len(self._received) >= 4:
            (size,) = struct.unpack_from(">i", self._received)
            if len(self._received) < size + 4:
                break
            frames.append(self._received[4 : size + 4])
            self._received = self._received[size + 4 :]
        return frames

    def close(self) -> None:
        self.connection.close()
        self.sock.close()
