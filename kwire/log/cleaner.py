"""Which log is compacted next, and the round from the plan to the new segments.

A log is worth compacting when the part that was not compacted yet, its dirty part, makes up
min.cleanable.dirty.ratio of it, or when a record in it is older than max.compaction.lag.ms. Left
alone are the active segment, what lies above the last stable offset, and segments with records that
are younger than min.compaction.lag.ms. How far each log is clean is kept in
`cleaner-offset-checkpoint`.

Only one round runs at a time, in a thread that gives way to the loop after every piece of work.
"""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from kwire.clock import Clock
from kwire.errors import KwireError
from kwire.log import checkpoints
from kwire.log.batch_filter import LastOfProducer
from kwire.log.compaction import CompactionCancelled, CompactionJob, Prepared, prepare
from kwire.log.partition_log import PartitionLog
from kwire.log.segment import Segment
from kwire.log.swap import install
from kwire.log.trash import Trash
from kwire.tasks import Scheduler
from kwire.types import TopicPartition

BREATH_BYTES = 64 * 1024
LONGEST_NAP_S = 0.2
"""How long a stop may have to wait for a round that is being held up."""

_log = logging.getLogger(__name__)


class Dirt(NamedTuple):
    """How much there is to compact in a log."""

    log: PartitionLog
    first_dirty_offset: int
    end_offset: int
    """The base offset of the first segment that is left alone."""
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool

    @property
    def ratio(self) -> float:
        return self.dirty_bytes / (self.clean_bytes + self.dirty_bytes) if self.dirty_bytes else 0.0

    @property
    def is_enough(self) -> bool:
        if self.is_overdue and self.dirty_bytes:
            return True
        return self.ratio > self.log.config.min_cleanable_dirty_ratio


def measure(
    log: PartitionLog, *, cleaned_to: int | None, last_stable_offset: int, now_ms: int
) -> Dirt:
    """Find the dirty part of a log; `cleaned_to` is where the last round ended, if one did."""
    start = log.log_start_offset if cleaned_to is None else cleaned_to
    if not log.log_start_offset <= start <= log.next_offset:
        # Records were deleted, or the log was cut: the checkpoint no longer speaks of this log.
        start = log.log_start_offset
    closed = log.segments[:-1]
    dirty = [segment for segment in closed if segment.next_offset > start]
    end = _end(log, dirty, last_stable_offset, now_ms)
    cleanable = [segment for segment in dirty if segment.base_offset < end]
    latest_ms = now_ms - log.config.max_compaction_lag_ms
    return Dirt(
        log,
        start,
        end,
        clean_bytes=sum(s.size_bytes for s in closed if s.base_offset < min(start, end)),
        dirty_bytes=sum(s.size_bytes for s in cleanable),
        is_overdue=any(0 < first_ms(segment) < latest_ms for segment in dirty),
    )


def first_ms(segment: Segment) -> int:
    """The time of the first batch, -1 if there is none."""
    return -1 if segment.first_timestamp is None else segment.first_timestamp


def _end(log: PartitionLog, dirty: list[Segment], stable_offset: int, now_ms: int) -> int:
    """The base offset of the first segment that may not be touched."""
    lag_ms = log.config.min_compaction_lag_ms
    for segment in dirty:
        is_young = lag_ms > 0 and segment.max_timestamp > now_ms - lag_ms
        if is_young or segment.next_offset > stable_offset:
            return segment.base_offset
    return log.active.base_offset


class Cleaner:
    """Compacts one log after the other, the dirtiest first."""

    def __init__(
        self,
        scheduler: Scheduler,
        clock: Clock,
        trash: Trash,
        directory: Path,
        *,
        key_map_bytes: int,
        bytes_per_second: float = float("inf"),
    ) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._trash = trash
        self._checkpoint = f"{directory}/{checkpoints.CLEANED}"
        self._cleaned_to = checkpoints.read_offsets(self._checkpoint)
        self._key_map_bytes = key_map_bytes
        self._bytes_per_second = bytes_per_second
        self._running: tuple[PartitionLog, CompactionJob, Pace] | None = None
        self._uncleanable: set[TopicPartition] = set()

    def clean_dirtiest(
        self,
        logs: Iterable[tuple[PartitionLog, int]],
        done: Callable[[Prepared | None], None] = lambda outcome: None,
    ) -> bool:
        """Start a round for the dirtiest of these logs, each with its last stable offset.

        False if none is dirty enough or a round is under way. `done` is told what was installed.
        """
        if self._running is not None:
            return False
        candidates = [self._measure(*pair) for pair in logs if self._may_clean(pair[0])]
        worthy = [dirt for dirt in candidates if dirt.is_enough]
        if not worthy:
            return False
        self._start(max(worthy, key=lambda dirt: dirt.ratio), done)
        return True

    def reconfigure(self, *, key_map_bytes: int, bytes_per_second: float) -> None:
        """Other limits, beginning with the next round."""
        self._key_map_bytes = key_map_bytes
        self._bytes_per_second = bytes_per_second

    def forget(self, topic_partition: TopicPartition) -> None:
        """The log is gone: stop working on it."""
        if self._running is not None and self._running[0].topic_partition == topic_partition:
            self.cancel()
        self._uncleanable.discard(topic_partition)
        if self._cleaned_to.pop(topic_partition, None) is not None:
            try:
                checkpoints.write_offsets(self._checkpoint, self._cleaned_to)
            except OSError as error:
                # The next round writes it again; a full disk must not keep a topic from going.
                _log.warning("cannot write %s: %s", checkpoints.CLEANED, error)

    def cancel(self) -> None:
        """Give up the round that is under way; a stop does not wait for it."""
        if self._running is not None:
            _, job, pace = self._running
            job.is_cancelled = pace.is_over = True

    def _may_clean(self, log: PartitionLog) -> bool:
        return (
            "compact" in log.config.cleanup_policy
            and not log.is_failed
            and log.topic_partition not in self._uncleanable
        )

    def _measure(self, log: PartitionLog, last_stable_offset: int) -> Dirt:
        return measure(
            log,
            cleaned_to=self._cleaned_to.get(log.topic_partition),
            last_stable_offset=last_stable_offset,
            now_ms=self._clock.now_ms(),
        )

    def _start(self, dirt: Dirt, done: Callable[[Prepared | None], None]) -> None:
        log = dirt.log
        pace = Pace(self._bytes_per_second, self._clock.monotonic)
        job = plan(dirt, self._clock.now_ms(), self._key_map_bytes, pace.worked)
        self._running = log, job, pace

        def finish(outcome: Prepared | Exception) -> None:
            self._running = None
            done(self._finish(log, outcome))

        self._scheduler.in_pool(lambda: prepare(job), finish)

    def _finish(self, log: PartitionLog, outcome: Prepared | Exception) -> Prepared | None:
        if isinstance(outcome, CompactionCancelled | FileNotFoundError):
            _log.info("compaction given up topic_partition=%s", log.topic_partition)
            return None
        if isinstance(outcome, Exception):
            self._give_up(log, outcome)
            return None
        try:
            if not install(log, outcome, self._trash):
                return None
            self._cleaned_to[log.topic_partition] = outcome.cleaned_to
            checkpoints.write_offsets(self._checkpoint, self._cleaned_to)
        except OSError as error:
            self._give_up(log, error)
            return None
        _log.info(
            "compacted topic_partition=%s from=%d to=%d bytes_before=%d bytes_after=%d",
            log.topic_partition,
            outcome.job.first_dirty_offset,
            outcome.cleaned_to,
            outcome.bytes_before,
            outcome.bytes_after,
        )
        return outcome

    def _give_up(self, log: PartitionLog, error: Exception) -> None:
        """A damaged log is left as it is until the next start; a full disk may have room later."""
        if not isinstance(error, OSError):
            self._uncleanable.add(log.topic_partition)
        details = error if isinstance(error, OSError | KwireError) else repr(error)
        _log.error("compaction failed topic_partition=%s error=%s", log.topic_partition, details)


def plan(
    dirt: Dirt, now_ms: int, key_map_bytes: int, pace: Callable[[int], None] = lambda size: None
) -> CompactionJob:
    """Everything a thread needs for a round, taken down in the loop."""
    log = dirt.log
    return CompactionJob(
        directory=str(log.directory),
        sources=tuple(s for s in log.segments[:-1] if s.base_offset < dirt.end_offset),
        first_dirty_offset=dirt.first_dirty_offset,
        transaction_indexes=tuple(segment.transaction_index for segment in log.segments),
        producers={
            producer_id: LastOfProducer(
                producer.epoch, producer.batches[-1].last_offset if producer.batches else -1
            )
            for producer_id, producer in log.producers
        },
        config=log.config,
        now_ms=now_ms,
        key_map_bytes=key_map_bytes,
        pace=pace,
    )


class Pace:
    """Holds a working thread up: for the loop's sake, and to log.cleaner.io.max.bytes.per.second.

    A thread that computes keeps the interpreter to itself for milliseconds; sleeping, even for no
    time at all, lets the loop in.
    """

    def __init__(
        self,
        bytes_per_second: float,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_second = bytes_per_second
        self._monotonic = monotonic
        self._sleep = sleep
        self._since = monotonic()
        self._unpaid_bytes = 0
        self.is_over = False
        """Set when nobody wants the work any longer: it is held up no more."""

    def worked(self, size_bytes: int) -> None:
        self._unpaid_bytes += size_bytes
        if self._unpaid_bytes < BREATH_BYTES:
            return
        due_s = self._unpaid_bytes / self._bytes_per_second
        now = self._monotonic()
        wait_s = max(0.0, self._since + due_s - now)
        self._sleep(min(wait_s, LONGEST_NAP_S))
        while wait_s > LONGEST_NAP_S and not self.is_over:
            wait_s -= LONGEST_NAP_S
            self._sleep(min(wait_s, LONGEST_NAP_S))
        self._since = max(now, self._since + due_s)
        self._unpaid_bytes = 0
