"""One client's connection: frames in, answers out in the order of their requests.

Everything runs in the loop's thread. Requests are handled as soon as they are complete; an answer
that must wait keeps its place in `_pending`, and later answers wait behind it. A client that does not
read its answers, or asks for too many at once, is not read from until it catches up.
"""

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from kwire.clock import Clock
from kwire.handlers.context import HangUp, Peer
from kwire.server.dispatch import Answer, Dispatch
from kwire.server.inbox import BadFrame, Inbox
from kwire.server.memory import FREE_BYTES, RequestMemory
from kwire.server.outbox import Outbox

MAX_PENDING_ANSWERS = 1_000
MAX_QUEUED_BYTES = 1024 * 1024

_log = logging.getLogger(__name__)


class ConnectionEnd(NamedTuple):
    """Why a connection is over; `complaint` is set when the peer broke a rule."""

    connection: "Connection"
    complaint: str | None


class Connection:
    __slots__ = (
        "_clock",
        "_dispatch",
        "_granted_bytes",
        "_inbox",
        "_is_closed",
        "_is_writing",
        "_loop",
        "_memory",
        "_on_end",
        "_outbox",
        "_pauses",
        "_pending",
        "_sock",
        "frame_started_at",
        "had_request",
        "last_active_at",
        "opened_at",
        "peer",
    )

    def __init__(
        self,
        sock: socket.socket,
        peer: Peer,
        *,
        loop: asyncio.AbstractEventLoop,
        dispatch: Dispatch,
        memory: RequestMemory,
        max_frame_bytes: int,
        clock: Clock,
        on_end: Callable[[ConnectionEnd], None],
    ) -> None:
        self._sock = sock
        self.peer = peer
        self._loop = loop
        self._dispatch = dispatch
        self._memory = memory
        self._clock = clock
        self._on_end = on_end
        self._inbox = Inbox(max_frame_bytes)
        self._outbox = Outbox()
        self._pending: deque[Answer] = deque()
        self._granted_bytes = 0
        self._pauses: set[str] = set()
        self._is_writing = False
        self._is_closed = False
        self.opened_at = self.last_active_at = clock.monotonic()
        self.frame_started_at: float | None = None
        self.had_request = False
        loop.add_reader(sock, self._on_readable)

    @property
    def is_waiting_for_us(self) -> bool:
        """Whether the client is owed an answer; such a connection is never idle."""
        return bool(self._pending)

    def shrink(self) -> None:
        self._inbox.shrink()

    def close(self, complaint: str | None = None) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._loop.remove_reader(self._sock)
        if self._is_writing:
            self._loop.remove_writer(self._sock)
        if "memory" in self._pauses:
            self._memory.forget(self._on_memory)
        self._release_memory()
        for answer in self._pending:
            answer.abandon()
        self._pending.clear()
        self._sock.close()
        self._on_end(ConnectionEnd(self, complaint))

    def _on_readable(self) -> None:
        try:
            if not self._inbox.receive(self._sock):
                self.close()
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        self.last_active_at = self._clock.monotonic()
        self._work()

    def _work(self) -> None:
        """Handle every complete frame, then send what is ready in one go."""
        try:
            for frame in self._inbox.frames():
                self._release_memory()
                self._handle(frame)
                if self._pauses or self._is_closed:
                    break
            else:
                self._watch_large_frame()
        except (BadFrame, HangUp) as error:
            self._send()
            self.close(str(error))
            return
        self._send()

    def _handle(self, frame: memoryview) -> None:
        self.had_request = True
        self.frame_started_at = None
        answer = self._dispatch.answer(self.peer, frame)
        if answer is None:
            return
        if not self._pending and answer.is_ready:
            self._outbox.put(answer.encode())
        else:
            self._pending.append(answer)
            answer.when_ready(self._on_answer)
        if len(self._pending) >= MAX_PENDING_ANSWERS:
            self._pause("answers")

    def _on_answer(self) -> None:
        """The answer of some pending request became known: send all that are now in order."""
        if self._is_closed or not self._pending or not self._pending[0].is_ready:
            return
        try:
            while self._pending and self._pending[0].is_ready:
                self._outbox.put(self._pending.popleft().encode())
        except HangUp as error:
            self._send()
            self.close(str(error))
            return
        self.last_active_at = self._clock.monotonic()
        self._send()
        if len(self._pending) < MAX_PENDING_ANSWERS:
            self._resume("answers")

    def _send(self) -> None:
        if self._is_closed or self._is_writing:
            return
        try:
            if self._outbox.send(self._sock):
                return
        except OSError:
            self.close()
            return
        self._is_writing = True
        self._loop.add_writer(self._sock, self._on_writable)
        if self._outbox.queued_bytes > MAX_QUEUED_BYTES:
            self._pause("unread answers")

    def _on_writable(self) -> None:
        try:
            is_drained = self._outbox.send(self._sock)
        except OSError:
            self.close()
            return
        self.last_active_at = self._clock.monotonic()
        if is_drained:
            self._is_writing = False
            self._loop.remove_writer(self._sock)
            self._resume("unread answers")

    def _watch_large_frame(self) -> None:
        """Before the buffer grows for a large frame, get leave from the common budget."""
        announced = self._inbox.announced_bytes()
        if self.frame_started_at is None and not self._inbox.is_empty:
            self.frame_started_at = self._clock.monotonic()
        if announced <= FREE_BYTES or self._granted_bytes:
            return
        if self._memory.try_take(announced):
            self._granted_bytes = announced
        else:
            self._pause("memory")
            self._memory.wait(announced, self._on_memory)

    def _on_memory(self) -> None:
        self._granted_bytes = self._inbox.announced_bytes()
        self._resume("memory")

    def _release_memory(self) -> None:
        if self._granted_bytes:
            granted, self._granted_bytes = self._granted_bytes, 0
            self._memory.give_back(granted)

    def _pause(self, reason: str) -> None:
        if not self._pauses:
            self._loop.remove_reader(self._sock)
        self._pauses.add(reason)

    def _resume(self, reason: str) -> None:
        if reason not in self._pauses:
            return
        self._pauses.discard(reason)
        if not self._pauses and not self._is_closed:
            self._loop.add_reader(self._sock, self._on_readable)
            # Frames that arrived before the pause wait in the buffer: no new byte may ever come.
            self._loop.call_soon(self._continue)

    def _continue(self) -> None:
        if not self._is_closed and not self._pauses:
            self._work()
