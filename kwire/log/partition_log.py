"""The log of one partition: segments in a directory, appended to by exactly one writer.

Synchronous and without locks. Offsets are dense at append; compaction may leave gaps later. What
is below `recovery_point` is known to be on disk; what is above may be lost with the machine, and is
checked batch by batch after a crash.

What the disk refuses, the caller is refused with KafkaStorageError, and the log is as before. A
full disk is a passing matter; an I/O error takes the whole directory offline (`files.fault`).
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kwire.clock import Clock
from kwire.codec.records.batch import CONTROL, LOG_APPEND_TIME, BatchHeader, stamp
from kwire.config.topic import TopicConfig
from kwire.errors import KafkaStorageError, OffsetOutOfRange
from kwire.log import replay
from kwire.log.file_slice import FileSlice
from kwire.log.files import TOO_MANY_OPEN, OpenFiles, sync_paths
from kwire.log.leader_epochs import LeaderEpochs
from kwire.log.producers import Producers, RememberedBatch
from kwire.log.rolling import RollRule
from kwire.log.segment import Segment
from kwire.log.segments import Segments
from kwire.log.snapshots import Snapshots
from kwire.log.time_lookup import TimedOffset, newest_record, seek_time
from kwire.log.transaction_index import AbortedTxn
from kwire.types import TopicPartition

_log = logging.getLogger(__name__)
_new_tuple = tuple.__new__


class Appended(NamedTuple):
    base_offset: int
    next_offset: int
    log_append_time_ms: int = -1
    is_duplicate: bool = False


class PartitionLog:
    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        directory: Path,
        config: TopicConfig,
        clock: Clock,
        files: OpenFiles,
        *,
        write_checkpoints: Callable[[], None] = lambda: None,
    ) -> None:
        path = str(directory)
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.directory = directory
        self.config = config
        self.clock = clock
        self.files = files
        self._segments = Segments(path, files)
        self.leader_epochs = LeaderEpochs(f"{path}/leader-epoch-checkpoint")
        self.producers = Producers()
        self.snapshots = Snapshots(path)
        self.log_start_offset = 0
        self.next_offset = 0
        self.recovery_point = 0
        self.last_flush_ms = clock.now_ms()
        self._write_checkpoints = write_checkpoints
        self._roll_rule = RollRule(config, clock)
        # What a flush must bring to disk beside the batches: names of new files, indexes, epochs.
        # The mark of a path changes whenever it has to be synced again.
        self._unsynced: dict[str, object] = {}

    def create(self) -> None:
        """Start a new, empty log in its directory."""
        self._add_segment(0)
        self._must_sync(str(self.directory.parent))

    def adopt(self, segments: list[Segment], log_start_offset: int) -> None:
        """Take over what recovery found in the directory."""
        self._segments.set(segments)
        self.next_offset = segments[-1].next_offset
        self.log_start_offset = max(log_start_offset, segments[0].base_offset)
        self._roll_rule.start(self.config)

    @property
    def segments(self) -> list[Segment]:
        """All segments, the oldest first; not to be changed."""
        return self._segments.listed

    @property
    def active(self) -> Segment:
        return self._segments.active

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def unflushed_messages(self) -> int:
        return self.next_offset - self.recovery_point

    @property
    def is_failed(self) -> bool:
        """Whether the directory is offline, and this log with it."""
        return self.files.fault is not None

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest open transaction begins; read_committed readers wait there."""
        first = self.producers.first_open_offset
        return None if first is None else max(first, self.log_start_offset)

    def append(
        self, batch: bytearray | memoryview, header: BatchHeader, *, leader_epoch: int
    ) -> Appended:
        """Write one checked batch at the end of the log and say where it landed."""
        if self.files.fault is not None:
            raise self.files.offline()
        attributes = header.attributes
        has_producer = header.producer_id >= 0
        if has_producer and not attributes & CONTROL:
            sent_before = self.producers.check(header)
            if sent_before is not None:
                return _answer_duplicate(sent_before)
        segment = self._segments.active
        if segment.size_bytes and self._roll_rule.is_due(segment, self.next_offset, header):
            segment = self.roll()
        base_offset = self.next_offset
        if leader_epoch != self.leader_epochs.latest:
            self._begin_epoch(leader_epoch, base_offset)
        stamp(batch, 0, base_offset, leader_epoch)
        segment.append(batch, header, base_offset, self.config.index_interval_bytes)
        if has_producer:
            if not attributes & CONTROL:
                self.producers.update(header, base_offset)
            else:
                aborted = replay.end_transaction(self.producers, batch, header, base_offset)
                if aborted is not None:
                    segment.transaction_index.append(aborted)
        self.next_offset = next_offset = base_offset + header.last_offset_delta + 1
        time_ms = header.max_timestamp if attributes & LOG_APPEND_TIME else -1
        return _new_tuple(Appended, (base_offset, next_offset, time_ms, False))

    def read(
        self, offset: int, max_bytes: int, *, end_offset: int, whole_first_batch: bool = True
    ) -> FileSlice | None:
        """Where the batches from `offset` on are; `None` when there are none below `end_offset`.

        An offset within a batch yields that batch from its start. The first batch is returned whole
        even if it is larger than `max_bytes`, unless `whole_first_batch` is off: then a batch that
        does not fit yields nothing. A batch that reaches beyond `end_offset` is left out.
        """
        if offset < self.log_start_offset or offset > self.next_offset:
            raise OffsetOutOfRange()
        if offset >= end_offset:
            return None
        if self.files.fault is not None:
            raise self.files.offline()
        try:
            return self._segments.read(offset, max_bytes, end_offset, whole_first_batch)
        except OSError as error:
            raise self.files.refusal(f"read {self.topic_partition}", error) from error

    def offset_for_time(self, timestamp: int, *, end_offset: int) -> TimedOffset | None:
        """The first record whose timestamp is at least the one asked for."""
        with self._reading():
            found = seek_time(self.segments, timestamp, self.log_start_offset, end_offset)
        return self._with_epoch(found)

    def max_timestamp_offset(self, *, end_offset: int) -> TimedOffset | None:
        """The first record that has the largest timestamp of the log (KIP-734)."""
        with self._reading():
            found = newest_record(self.segments, self.log_start_offset, end_offset)
        return self._with_epoch(found)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTxn]:
        """The aborted transactions with records in the range, by their first offsets."""
        with self._reading():
            return self._segments.aborted(start_offset, end_offset)

    def roll(self) -> Segment:
        """Close the active segment and open the next one at the log's end."""
        closed = self._segments.active
        self._add_segment(self.next_offset)
        self.save_if_possible(closed.close_for_writing)
        self.save_if_possible(lambda: self.snapshots.save(self.producers, self.next_offset))
        self._must_sync(*closed.paths()[1:])
        return self._segments.active

    def delete_records_before(self, offset: int) -> int:
        """Advance the start of the log; whole segments below it can then be removed."""
        if offset > self.next_offset or offset < 0:
            raise OffsetOutOfRange()
        if self.files.fault is not None:
            raise self.files.offline()
        self._start_at(offset)
        return self.log_start_offset

    def remove_segments(self, gone: Sequence[Segment]) -> None:
        """Take segments out of the log; their files are the caller's to remove."""
        self.replace_segments(gone, [])

    def replace_segments(self, gone: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Swap segments, as compaction does; if none would be left, a new one is opened."""
        self._segments.replace(gone, new)
        if not self.segments:
            self._add_segment(self.next_offset)
        if not new:
            self._start_at(self.segments[0].base_offset)

    def truncate_to(self, offset: int) -> None:
        """Forget everything at and above `offset`."""
        if offset >= self.next_offset:
            return
        if offset < self.segments[0].base_offset:
            self.start_over_at(offset)
            return
        self._lower_recovery_point(offset)
        self._must_sync(str(self.directory))
        try:
            self._segments.remove([s for s in self.segments[1:] if s.base_offset >= offset])
            self.active.truncate_to(offset)
            self.leader_epochs.truncate_to(offset)
            self.snapshots.drop_above(offset)
        except OSError as error:
            raise self.files.give_up(f"truncate {self.topic_partition}", error) from error
        self.next_offset = offset
        self.log_start_offset = min(self.log_start_offset, offset)
        replay.restore(self.producers, self.snapshots, self.segments, offset)
        self._roll_rule.start(self.config)

    def start_over_at(self, offset: int) -> None:
        """Forget every batch; the next one will get `offset`."""
        self._lower_recovery_point(offset)
        try:
            self._segments.remove(self.segments)
            self.next_offset = self.log_start_offset = self.recovery_point = offset
            self._add_segment(offset)
            self.leader_epochs.clear()
            self.leader_epochs.save()
            self.snapshots.drop_above(-1)
        except OSError as error:
            raise self.files.give_up(f"empty {self.topic_partition}", error) from error
        self.producers.clear()

    def reconfigure(self, config: TopicConfig) -> None:
        self.config = config
        self._roll_rule.start(self.config)

    def flush(self) -> None:
        """Bring everything to the disk. A failure is final: the directory takes no more writes."""
        if self.files.fault is not None:
            raise self.files.offline()
        end, unsynced = self.next_offset, self.unsynced()
        try:
            for segment in self.dirty_segments():
                os.fdatasync(segment.file.fd())
            sync_paths(unsynced)
        except OSError as error:
            raise self.fail_flush(error) from error
        self.note_flushed(end, unsynced)

    def dirty_segments(self) -> list[Segment]:
        """The segments with batches that may not be on disk yet."""
        return self._segments.beyond(self.recovery_point)

    def unsynced(self) -> dict[str, object]:
        """Files and directories that must be on disk too, or the batches would not be found."""
        return dict(self._unsynced)

    def note_flushed(self, end_offset: int, synced: Mapping[str, object]) -> None:
        """Everything below `end_offset` is on disk; a truncation may have been quicker."""
        for path, mark in synced.items():
            if self._unsynced.get(path) is mark:
                del self._unsynced[path]
        self.recovery_point = max(self.recovery_point, min(end_offset, self.next_offset))
        self.last_flush_ms = self.clock.now_ms()

    def fail_flush(self, error: Exception) -> KafkaStorageError:
        """Take no more writes: the kernel may have dropped what it could not write."""
        doing = f"flush {self.topic_partition}"
        if isinstance(error, OSError) and error.errno in TOO_MANY_OPEN:
            # There was no descriptor to flush with, so that nothing was tried yet.
            return self.files.refusal(doing, error)
        return self.files.give_up(doing, error)

    def save_if_possible(self, save: Callable[[], None]) -> None:
        """Write what can be made again from the batches: a full disk is no reason to stop."""
        try:
            save()
        except OSError as error:
            refusal = self.files.refusal(f"save the indexes of {self.topic_partition}", error)
            if self.files.fault is not None:
                raise refusal from error
            _log.warning("%s", refusal)

    def save(self) -> None:
        """Write down what speeds up the next start."""
        if self.files.fault is not None:
            raise self.files.offline()
        try:
            self.active.close_for_writing()
            self.snapshots.save(self.producers, self.next_offset)
        except OSError as error:
            raise self.files.refusal(
                f"save the indexes of {self.topic_partition}", error
            ) from error

    def close(self) -> None:
        """Save, flush, and let go of the files."""
        try:
            self.save()
            self.flush()
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Close the files as they are; the log is not used again."""
        for segment in self.segments:
            segment.drop()

    def retire(self, reason: str) -> None:
        """The log was deleted: whoever still holds it is refused, and its files are left alone."""
        self.let_go()
        self.files = OpenFiles(limit=1)
        self.files.fault = reason

    def _begin_epoch(self, epoch: int, base_offset: int) -> None:
        try:
            self.leader_epochs.assign(epoch, base_offset)
        except OSError as error:
            raise self.files.refusal(f"save the epochs of {self.topic_partition}", error) from error
        self._must_sync(self.leader_epochs.path, str(self.directory))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self.files.fault is not None:
            raise self.files.offline()
        try:
            yield
        except OSError as error:
            raise self.files.refusal(f"read {self.topic_partition}", error) from error

    def _with_epoch(self, found: TimedOffset | None) -> TimedOffset | None:
        if found is None:
            return None
        return found._replace(leader_epoch=self.leader_epochs.epoch_at(found.offset))

    def _start_at(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.save_if_possible(lambda: self.leader_epochs.truncate_before(offset))

    def _lower_recovery_point(self, offset: int) -> None:
        """The checkpoint on disk must not promise what is about to go."""
        if self.recovery_point > offset:
            self.recovery_point = offset
            self._write_checkpoints()

    def _must_sync(self, *paths: str) -> None:
        for path in paths:
            self._unsynced[path] = object()

    def _add_segment(self, base_offset: int) -> None:
        self._segments.add(base_offset, self.clock.now_ms())
        self._must_sync(str(self.directory))
        self._roll_rule.start(self.config)


def _answer_duplicate(sent_before: RememberedBatch) -> Appended:
    """Where the batch landed when it came for the first time, and when, as Kafka tells it."""
    base_offset, next_offset = sent_before.base_offset, sent_before.last_offset + 1
    return Appended(base_offset, next_offset, sent_before.timestamp, is_duplicate=True)
