"""What a broker does by the clock: retention, compaction, flushing, checkpoints, forgetting.

Each duty looks at all partitions in the loop, which is quick, and leaves what blocks to the pool.
None of them is ever late for a reason of its own: a duty that fails is logged and comes again.
"""

import logging
from collections.abc import Callable

from kwire.clock import Clock
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ImageChange
from kwire.errors import KafkaStorageError
from kwire.log.cleaner import Cleaner
from kwire.log.compaction import Prepared
from kwire.log.flush import BackgroundFlush, GroupCommit, is_flush_due
from kwire.log.retention import delete_expired
from kwire.log.store import LogStore, remove_directories
from kwire.log.trash import Trash
from kwire.replication.hosted import Hosted
from kwire.tasks import Scheduler, Timer
from kwire.types import TopicPartition

FLUSH_SWEEP_MS = 100
"""How exactly flush.ms is kept."""
CLOSED_SWEEP_MS = 1_000
REMOVAL_SWEEP_MS = 1_000
SHORTEST_PAUSE_MS = 10

_log = logging.getLogger(__name__)


class Duties:
    def __init__(
        self,
        config: BrokerConfig,
        hosted: Hosted,
        log_store: LogStore,
        group_commit: GroupCommit,
        scheduler: Scheduler,
        clock: Clock,
    ) -> None:
        self._config = config
        self._hosted = hosted
        self._log_store = log_store
        self._group_commit = group_commit
        self._scheduler = scheduler
        self._clock = clock
        self._background = BackgroundFlush(scheduler)
        self._trash = Trash(scheduler)
        self._cleaner = Cleaner(
            scheduler,
            clock,
            self._trash,
            log_store.directory,
            key_map_bytes=config.log_cleaner_dedupe_buffer_size,
            bytes_per_second=config.log_cleaner_io_max_bytes_per_second,
        )
        self._timers: dict[str, Timer] = {}
        self._is_over = False

    def start(self) -> None:
        config = self._config
        delay_ms = config.log_initial_task_delay_ms
        self._every(self.expire, lambda: config.log_retention_check_interval_ms, delay_ms)
        # One write covers both checkpoints, so the more frequent of the two sets the pace.
        checkpoint_ms = min(
            config.log_flush_offset_checkpoint_interval_ms,
            config.log_flush_start_offset_checkpoint_interval_ms,
        )
        self._every(self.checkpoint, lambda: checkpoint_ms, delay_ms)
        self._every(self.flush_due, lambda: FLUSH_SWEEP_MS)
        self._every(self.flush_closed, lambda: CLOSED_SWEEP_MS)
        self._every(self.remove_condemned, lambda: REMOVAL_SWEEP_MS)
        self._every(self.forget_producers, lambda: config.producer_id_expiration_check_interval_ms)
        if config.log_cleaner_enable:
            self._every(self.compact, lambda: self._config.log_cleaner_backoff_ms)

    def stop(self) -> None:
        self._is_over = True
        self._cleaner.cancel()
        for timer in self._timers.values():
            timer.cancel()

    def reconfigure(self, config: BrokerConfig) -> None:
        """Settings that a client may change while the broker runs."""
        self._config = config
        self._cleaner.reconfigure(
            key_map_bytes=config.log_cleaner_dedupe_buffer_size,
            bytes_per_second=config.log_cleaner_io_max_bytes_per_second,
        )

    def follow(self, change: ImageChange) -> None:
        """A topic that was deleted may come again: what compaction knew of it must not."""
        for topic in change.deleted:
            for index in topic.partitions:
                self._cleaner.forget(TopicPartition(topic.name, index))

    def expire(self) -> None:
        """Retention: drop the segments that nothing keeps any longer."""
        for partition in self._hosted:
            before = partition.log.log_start_offset
            try:
                delete_expired(
                    partition.log,
                    high_watermark=partition.high_watermark,
                    now_ms=self._clock.now_ms(),
                    trash=self._trash,
                )
            except (KafkaStorageError, OSError) as error:
                # The others need their room no less.
                _log.error(
                    "retention failed partition=%s: %s", partition.log.topic_partition, error
                )
            if partition.log.log_start_offset != before:
                partition.wake()

    def compact(self) -> None:
        """Start a round of compaction if a log is dirty enough; rounds follow each other."""

        def done(outcome: Prepared | None) -> None:
            if outcome is not None and not self._is_over:
                self.compact()

        logs = [(partition.log, partition.last_stable_offset) for partition in self._hosted]
        self._cleaner.clean_dirtiest(logs, done)

    def flush_due(self) -> None:
        """flush.ms: bring to disk what has been waiting for long enough."""
        now_ms = self._clock.now_ms()
        for partition in self._hosted:
            if is_flush_due(partition.log, now_ms):
                self._group_commit.after_flush(partition.log, _log_failure)

    def flush_closed(self) -> None:
        """Segments that were rolled go to disk soon, so that a crash leaves little to check."""
        self._background.flush_closed(partition.log for partition in self._hosted)

    def checkpoint(self) -> None:
        """In the loop, not in a thread: an older checkpoint must never overwrite a newer one."""
        self._log_store.checkpoint()

    def remove_condemned(self) -> None:
        """Directories of deleted topics go in a thread once file.delete.delay.ms is over."""
        due = self._log_store.due_removals()
        if due:
            self._scheduler.in_pool(lambda: remove_directories(due), _nothing)

    def forget_producers(self) -> None:
        """Idempotent producers that wrote nothing for producer.id.expiration.ms."""
        now_ms = self._clock.now_ms()
        for partition in self._hosted:
            partition.log.producers.expire(now_ms, self._config.producer_id_expiration_ms)

    def _every(
        self, duty: Callable[[], None], interval_ms: Callable[[], int], first_ms: int | None = None
    ) -> None:
        """Run a duty again and again, `interval_ms` after it last ended."""
        name = duty.__name__

        def run() -> None:
            try:
                duty()
            except Exception:
                _log.exception("duty failed duty=%s", name)
            if not self._is_over:
                pause_ms = max(interval_ms(), SHORTEST_PAUSE_MS)
                self._timers[name] = self._scheduler.call_later(pause_ms / 1000, run)

        wait_ms = interval_ms() if first_ms is None else first_ms
        self._timers[name] = self._scheduler.call_later(wait_ms / 1000, run)


def _log_failure(error: Exception | None) -> None:
    if error is not None:
        _log.error("flush failed: %s", error)


def _nothing(outcome: object) -> None:
    if isinstance(outcome, Exception):
        _log.error("directories not removed: %s", outcome)
