"""When data goes from the page cache to the disk, and who waits for it.

By default an append is acknowledged from the page cache, as in Kafka. With flush.messages an answer
waits for the disk: `GroupCommit` holds the answers of a turn of the loop and flushes each log once
for all of them. A flush that has become slow (more than a millisecond on average) is left to a
thread, so that the loop goes on receiving; what comes in meanwhile shares the next one.

A failed flush is final: its directory goes offline, and nobody who waited is told of success.
The kernel may have dropped the data it could not write, so trying again would prove nothing.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeAlias

from kwire.errors import KafkaStorageError
from kwire.log.files import sync_paths
from kwire.log.partition_log import PartitionLog
from kwire.tasks import Scheduler

SLOW_FLUSH_S = 0.001
NEWEST_WEIGHT = 0.2

_log = logging.getLogger(__name__)

Answer: TypeAlias = Callable[[KafkaStorageError | None], None]


def needs_flush(log: PartitionLog) -> bool:
    """Whether flush.messages says that the answer to the last append waits for the disk."""
    return log.next_offset - log.recovery_point >= log.config.flush_messages


def is_flush_due(log: PartitionLog, now_ms: int) -> bool:
    """Whether flush.ms says that the log has been dirty for long enough."""
    return (
        log.next_offset > log.recovery_point and now_ms - log.last_flush_ms >= log.config.flush_ms
    )


class GroupCommit:
    """One flush a log for all who wait at the end of a turn."""

    def __init__(self, scheduler: Scheduler, monotonic: Callable[[], float]) -> None:
        self._scheduler = scheduler
        self._monotonic = monotonic
        self._waiting: dict[PartitionLog, list[Answer]] = {}
        self._in_pool: set[PartitionLog] = set()
        self._is_called = False
        self.average_s = 0.0
        """How long a flush takes, the newest counting most."""

    def after_flush(self, log: PartitionLog, answer: Answer) -> None:
        """Call back when everything now in the log is on disk, or with the reason why it is not."""
        waiting = self._waiting.get(log)
        if waiting is None:
            self._waiting[log] = [answer]
        else:
            waiting.append(answer)
        if not self._is_called:
            self._is_called = True
            self._scheduler.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self._is_called = False
        for log in [log for log in self._waiting if log not in self._in_pool]:
            answers = self._waiting.pop(log)
            if self.average_s <= SLOW_FLUSH_S or log.is_failed:
                _tell(answers, self._flush_here(log))
            else:
                self._flush_in_pool(log, answers)

    def _flush_here(self, log: PartitionLog) -> KafkaStorageError | None:
        start = self._monotonic()
        try:
            log.flush()
        except KafkaStorageError as error:
            return error
        self._took(self._monotonic() - start)
        return None

    def _flush_in_pool(self, log: PartitionLog, answers: list[Answer]) -> None:
        start = self._monotonic()
        self._in_pool.add(log)

        def done(error: KafkaStorageError | None) -> None:
            self._in_pool.discard(log)
            if error is None:
                self._took(self._monotonic() - start)
            _tell(answers, error)
            if log in self._waiting:
                self._end_turn()

        flush_in_pool(log, log.next_offset, self._scheduler, done)

    def _took(self, seconds: float) -> None:
        self.average_s += NEWEST_WEIGHT * (seconds - self.average_s)


def _tell(answers: list[Answer], error: KafkaStorageError | None) -> None:
    for answer in answers:
        try:
            answer(error)
        except Exception:
            # A bug of one who waited: the others wait for their answers no less.
            _log.exception("answer after a flush failed")


class BackgroundFlush:
    """Brings closed segments to disk soon after their roll, as Kafka does, one log at a time.

    A crash then leaves little to check, and `checkpoint` has something to tell.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: deque[PartitionLog] = deque()
        self._is_running = False

    def flush_closed(self, logs: Iterable[PartitionLog]) -> None:
        """To be called every now and then; a round that is under way is not repeated."""
        if not self._is_running:
            self._waiting.extend(log for log in logs if log.active.base_offset > log.recovery_point)
            self._next(None)

    def _next(self, _: KafkaStorageError | None) -> None:
        self._is_running = bool(self._waiting)
        if self._waiting:
            log = self._waiting.popleft()
            flush_in_pool(log, log.active.base_offset, self._scheduler, self._next)


def flush_in_pool(
    log: PartitionLog,
    end_offset: int,
    scheduler: Scheduler,
    done: Callable[[KafkaStorageError | None], None],
) -> None:
    """Let a thread bring to disk what is below `end_offset`.

    It works on duplicates of our descriptors: those remember the same errors as ours.
    """
    dirty = [segment for segment in log.dirty_segments() if segment.base_offset < end_offset]
    descriptors: list[int] = []
    try:
        for segment in dirty:
            descriptors.append(os.dup(segment.file.fd()))
    except OSError as error:
        _close(descriptors)
        done(log.files.refusal(f"flush {log.topic_partition}", error))
        return
    unsynced = log.unsynced()

    def work() -> None:
        try:
            for fd in descriptors:
                os.fdatasync(fd)
            sync_paths(unsynced)
        finally:
            _close(descriptors)

    def finish(outcome: Exception | None) -> None:
        if isinstance(outcome, Exception):
            done(log.fail_flush(outcome))
        else:
            log.note_flushed(end_offset, unsynced)
            done(None)

    scheduler.in_pool(work, finish)


def _close(descriptors: list[int]) -> None:
    for fd in descriptors:
        os.close(fd)
