"""One client's connection: frames in, answers out in the order of their requests.

Everything runs in the loop's thread. Requests are handled as soon as they are complete; an answer
that must wait keeps its place in `_pending`, and later answers wait behind it. A client that does
not read its answers, or asks for too many at once, is not read from until it catches up.
"""

import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from kwire.clock import Clock
from kwire.errors import KafkaStorageError
from kwire.handlers.context import HangUp, Peer
from kwire.log.file_slice import FileSlice
from kwire.server.dispatch import Answer, LaterAnswer
from kwire.server.inbox import BadFrame, Inbox
from kwire.server.loop import SocketLoop
from kwire.server.memory import FREE_BYTES, RequestMemory
from kwire.server.outbox import Outbox, Progress, release
from kwire.tasks import Scheduler

MAX_PENDING_ANSWERS = 1_000
MAX_QUEUED_BYTES = 1024 * 1024
FRAMES_PER_TURN = 256
"""After so many requests of one client the others have their turn."""

_log = logging.getLogger(__name__)


class Answering(Protocol):
    """Whoever knows the answers; see `dispatch.Conversation`."""

    def answer(self, frame: memoryview) -> Answer | LaterAnswer | None: ...


class ConnectionEnd(NamedTuple):
    """Why a connection is over; `complaint` is set when the peer broke a rule."""

    connection: "Connection"
    complaint: str | None


class Connection:
    __slots__ = (
        "_clock",
        "_conversation",
        "_granted_bytes",
        "_inbox",
        "_is_closed",
        "_is_loading",
        "_is_writing",
        "_loop",
        "_memory",
        "_on_end",
        "_outbox",
        "_pauses",
        "_pending",
        "_scheduler",
        "_sock",
        "granted_at",
        "had_request",
        "opened_at",
        "peer",
        "quiet_since",
        "was_active",
    )

    def __init__(
        self,
        sock: socket.socket,
        peer: Peer,
        *,
        loop: SocketLoop,
        scheduler: Scheduler,
        conversation: Answering,
        memory: RequestMemory,
        scratch: memoryview,
        max_frame_bytes: int,
        clock: Clock,
        on_end: Callable[[ConnectionEnd], None],
    ) -> None:
        self._sock = sock
        self.peer = peer
        self._loop = loop
        self._scheduler = scheduler
        self._conversation = conversation
        self._memory = memory
        self._clock = clock
        self._on_end = on_end
        self._inbox = Inbox(max_frame_bytes)
        self._outbox = Outbox(scratch)
        self._pending: deque[Answer | LaterAnswer] = deque()
        self._granted_bytes = 0
        self._pauses: set[str] = set()
        self._is_writing = False
        self._is_loading = False
        self._is_closed = False
        self.opened_at = self.quiet_since = clock.monotonic()
        # Reading a clock with each event costs more than it tells: see `Listeners._sweep`.
        self.was_active = True
        self.granted_at: float | None = None
        """Since when this connection holds memory of the common budget."""
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
        if not self._pauses:
            self._loop.remove_reader(self._sock)
        if self._is_writing:
            self._loop.remove_writer(self._sock)
        if "memory" in self._pauses:
            self._memory.forget(self._on_memory)
        self._release_memory()
        for answer in self._pending:
            if isinstance(answer, LaterAnswer):
                answer.abandon()
                if answer.answer is not None:
                    release(answer.answer[0])
            else:
                release(answer[0])
        self._pending.clear()
        self._outbox.clear()
        self._sock.close()
        self._on_end(ConnectionEnd(self, complaint))

    def _on_readable(self) -> None:
        try:
            count = self._inbox.receive(self._sock)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            count = 0
        if not count:
            self.close()
            return
        self.was_active = True
        self._work()

    def _work(self) -> None:
        """Handle the complete frames, then send what is ready in one go."""
        next_frame = self._inbox.next_frame
        try:
            for _ in range(FRAMES_PER_TURN):
                frame = next_frame()
                if frame is None:
                    if not self._inbox.is_empty:
                        self._watch_large_frame()
                    break
                self.had_request = True
                if self._granted_bytes:
                    self._release_memory()
                answer = self._conversation.answer(frame)
                if answer.__class__ is tuple and not self._pending:
                    self._outbox.put(*answer)
                elif answer is not None:
                    self._keep_place(answer)
                if self._pauses or self._is_closed:
                    break
            else:
                self._loop.call_soon(self._continue)
        except (BadFrame, HangUp) as error:
            self._send()
            self.close(str(error))
            return
        except Exception:
            _log.exception("connection failed peer=%s", self.peer)
            self.close()
            return
        if self._outbox.queued_bytes:
            self._send()

    def _keep_place(self, answer: Answer | LaterAnswer) -> None:
        """Another answer goes first."""
        self._pending.append(answer)
        if isinstance(answer, LaterAnswer):
            answer.then(self._on_answer)
        else:
            _hold(answer)
        if len(self._pending) >= MAX_PENDING_ANSWERS:
            self._pause("answers")

    def _on_answer(self, answer: LaterAnswer) -> None:
        """The answer of some pending request became known: send all that are now in order."""
        if self._is_closed:
            return
        if answer.is_broken:
            self.close()
            return
        if self._pending[0] is not answer:
            self._keep(answer)
            return
        self._put_known()
        self.was_active = True
        self._send()
        if len(self._pending) < MAX_PENDING_ANSWERS:
            self._resume("answers")

    def _keep(self, answer: LaterAnswer) -> None:
        assert answer.answer is not None
        try:
            _hold(answer.answer)
        except (OSError, KafkaStorageError) as error:
            self._give_up(error)

    def _put_known(self) -> None:
        while self._pending:
            first = self._pending[0]
            answer = first.answer if isinstance(first, LaterAnswer) else first
            if answer is None:
                return
            self._pending.popleft()
            self._outbox.put(*answer)

    def _send(self) -> None:
        if self._is_closed:
            return
        try:
            if self._is_writing or self._is_loading:
                self._queue_up()
                return
            progress = self._outbox.send(self._sock)
            if progress is not Progress.DONE:
                self._go_on_later(progress)
        except (OSError, KafkaStorageError) as error:
            self._give_up(error)
        except Exception:
            # Another client's request may have made us send: it must not suffer from our bug.
            _log.exception("connection failed peer=%s", self.peer)
            self.close()

    def _go_on_later(self, progress: Progress) -> None:
        """What is not sent waits for the socket or for the disk, whichever is behind."""
        if progress is Progress.COLD:
            self._load()
        else:
            self._is_writing = True
            self._loop.add_writer(self._sock, self._on_writable)
        self._queue_up()

    def _queue_up(self) -> None:
        self._outbox.hold()
        if self._outbox.queued_bytes > MAX_QUEUED_BYTES:
            self._pause("unread answers")

    def _on_writable(self) -> None:
        self.was_active = True
        self._loop.remove_writer(self._sock)
        self._is_writing = False
        self._send()
        self._resume_when_sent()

    def _load(self) -> None:
        """Let a thread read what is not in the page cache, while the loop serves others."""
        cold = self._outbox.cold_bytes()
        self._is_loading = True

        def loaded(outcome: bytes | Exception) -> None:
            cold.release()
            self._is_loading = False
            if not self._is_closed:
                self._send_loaded(outcome)

        self._scheduler.in_pool(cold.read, loaded)

    def _send_loaded(self, outcome: bytes | Exception) -> None:
        if isinstance(outcome, Exception):
            self._give_up(outcome)
            return
        self.was_active = True
        try:
            progress = self._outbox.send_loaded(self._sock, outcome)
            if progress is not Progress.DONE:
                self._go_on_later(progress)
        except (OSError, KafkaStorageError) as error:
            self._give_up(error)
            return
        self._resume_when_sent()

    def _give_up(self, error: Exception) -> None:
        """The peer is gone, or we cannot read what its answer has promised already."""
        if not isinstance(error, OSError):
            _log.error("answer cut off peer=%s: %s", self.peer, error)
        self.close()

    def _resume_when_sent(self) -> None:
        if self._outbox.queued_bytes <= MAX_QUEUED_BYTES:
            self._resume("unread answers")

    def _watch_large_frame(self) -> None:
        """Before the buffer grows for a large frame, get leave from the common budget."""
        announced = self._inbox.announced_bytes()
        if announced <= FREE_BYTES or self._granted_bytes:
            return
        if self._memory.try_take(announced):
            self._on_memory()
        else:
            self._pause("memory")
            self._memory.wait(announced, self._on_memory)

    def _on_memory(self) -> None:
        self._granted_bytes = self._inbox.announced_bytes()
        self.granted_at = self._clock.monotonic()
        self._resume("memory")

    def _release_memory(self) -> None:
        if self._granted_bytes:
            granted, self._granted_bytes = self._granted_bytes, 0
            self.granted_at = None
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


def _hold(answer: Answer) -> None:
    for piece in answer[0]:
        if isinstance(piece, FileSlice):
            piece.hold()
