"""The log of one partition: segments in a directory, appended to by exactly one writer.

Synchronous and without locks. Offsets are dense at append; compaction may leave gaps later. What
is below `recovery_point` is known to be on disk; what is above may be lost with the machine, and is
checked batch by batch after a crash.
"""

import random
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from kwire.clock import Clock
from kwire.codec.records.batch import BatchHeader, stamp
from kwire.codec.records.control import read_marker
from kwire.config.topic import TopicConfig
from kwire.errors import KafkaStorageError, OffsetOutOfRange
from kwire.log.files import FileSlice, OpenFiles, sync_directory
from kwire.log.leader_epochs import LeaderEpochs
from kwire.log.producers import Producers
from kwire.log.segment import Segment, segment_stem
from kwire.log.time_lookup import TimedOffset, newest_record, seek_time
from kwire.log.transaction_index import AbortedTxn
from kwire.types import TopicPartition

MAX_RELATIVE_OFFSET = 2**31 - 1
OFFSET_ENTRY_BYTES = 8
SNAPSHOTS_KEPT = 2


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
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.directory = directory
        self.config = config
        self.clock = clock
        self.files = files
        self.segments: list[Segment] = []
        self.leader_epochs = LeaderEpochs(directory / "leader-epoch-checkpoint")
        self.producers = Producers()
        self.log_start_offset = 0
        self.next_offset = 0
        self.recovery_point = 0
        self.is_failed = False
        self._last_flush_ms = clock.now_ms()
        self._roll_after_ms = 0
        self._bases: list[int] = []

    def create(self) -> None:
        """Start a new, empty log in its directory."""
        self._add_segment(0)

    def adopt(self, segments: list[Segment], log_start_offset: int, next_offset: int) -> None:
        """Take over what recovery found in the directory."""
        self.segments = segments
        self._bases = [segment.base_offset for segment in segments]
        self.next_offset = next_offset
        self.log_start_offset = max(log_start_offset, segments[0].base_offset)
        self.log_start_offset = min(self.log_start_offset, next_offset)
        self.active.offset_index.load()
        self.active.time_index.load()
        self._plan_roll()

    @property
    def active(self) -> Segment:
        return self.segments[-1]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def unflushed_messages(self) -> int:
        return self.next_offset - self.recovery_point

    @property
    def last_flush_ms(self) -> int:
        return self._last_flush_ms

    @property
    def first_unstable_offset(self) -> int | None:
        return self.producers.first_open_offset

    def append(
        self, batch: bytearray | memoryview, header: BatchHeader, *, leader_epoch: int
    ) -> Appended:
        """Write one checked batch at the end of the log and say where it landed."""
        if self.is_failed:
            raise KafkaStorageError(f"{self.topic_partition} is offline after a failed flush")
        has_producer = header.producer_id >= 0
        if has_producer and not header.attributes & 0x20:
            sent_before = self.producers.check(header)
            if sent_before is not None:
                time_ms = sent_before.timestamp if header.is_log_append_time else -1
                base = sent_before.base_offset
                return Appended(base, sent_before.last_offset + 1, time_ms, is_duplicate=True)
        segment = self.segments[-1]
        if segment.size_bytes and self._is_full(segment, header):
            segment = self.roll()
        base_offset = self.next_offset
        stamp(batch, 0, base_offset, leader_epoch)
        segment.append(batch, header, base_offset, self.config.index_interval_bytes)
        if leader_epoch != self.leader_epochs.latest:
            self.leader_epochs.assign(leader_epoch, base_offset)
        if has_producer:
            self._remember(batch, header, base_offset, segment)
        self.next_offset = next_offset = base_offset + header.last_offset_delta + 1
        time_ms = header.max_timestamp if header.attributes & 0x08 else -1
        return Appended(base_offset, next_offset, time_ms)

    def read(
        self, offset: int, max_bytes: int, *, end_offset: int, whole_first_batch: bool = True
    ) -> FileSlice | None:
        """Where the batches from `offset` on are; `None` when there are none below `end_offset`.

        The first batch is returned whole even if it is larger than `max_bytes`, unless
        `whole_first_batch` is off: then a batch that does not fit yields nothing.
        """
        if offset < self.log_start_offset or offset > self.next_offset:
            raise OffsetOutOfRange()
        if offset >= end_offset:
            return None
        index = bisect_right(self._bases, offset) - 1
        while index < len(self.segments):
            segment = self.segments[index]
            position = segment.position_of(offset)
            if position < segment.size_bytes:
                return self._slice(segment, position, max_bytes, end_offset, whole_first_batch)
            index += 1
        return None

    def offset_for_time(self, timestamp: int, *, end_offset: int) -> TimedOffset | None:
        """The first record whose timestamp is at least the one asked for."""
        found = seek_time(self.segments, timestamp, self.log_start_offset, end_offset)
        return self._with_epoch(found)

    def max_timestamp_offset(self, *, end_offset: int) -> TimedOffset | None:
        """The first record that has the largest timestamp of the log (KIP-734)."""
        return self._with_epoch(newest_record(self.segments, self.log_start_offset, end_offset))

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTxn]:
        """The aborted transactions with records in the range, by their first offsets."""
        found: list[AbortedTxn] = []
        for segment in self.segments[max(0, bisect_right(self._bases, start_offset) - 1) :]:
            for entry in segment.transaction_index.entries():
                if entry.last_offset >= start_offset and entry.first_offset < end_offset:
                    found.append(entry)
        return sorted(found, key=lambda entry: entry.first_offset)

    def roll(self) -> Segment:
        """Close the active segment and open the next one at the log's end."""
        self.active.close_for_writing()
        self.save_producers()
        self._add_segment(self.next_offset)
        return self.active

    def roll_if_due(self) -> None:
        """Roll an active segment that has been open for longer than `segment.ms`."""
        segment = self.active
        if segment.size_bytes and self._is_old(segment, self.clock.now_ms()):
            self.roll()

    def delete_records_before(self, offset: int) -> int:
        """Advance the start of the log; whole segments below it can then be removed."""
        if offset > self.next_offset or offset < 0:
            raise OffsetOutOfRange()
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.leader_epochs.truncate_before(offset)
        return self.log_start_offset

    def remove_segments(self, gone: list[Segment]) -> None:
        """Take segments out of the log; their files are the caller's to remove."""
        self.replace_segments(gone, [])

    def replace_segments(self, gone: list[Segment], new: list[Segment]) -> None:
        """Swap segments, as compaction does; if none would be left, a new one is opened."""
        dropped = set(map(id, gone))
        kept = [segment for segment in self.segments if id(segment) not in dropped]
        self.segments = sorted([*kept, *new], key=lambda segment: segment.base_offset)
        self._bases = [segment.base_offset for segment in self.segments]
        if not self.segments:
            self._add_segment(self.next_offset)
        first = self.segments[0].base_offset
        if first > self.log_start_offset and not new:
            self.log_start_offset = first
            self.leader_epochs.truncate_before(first)

    def truncate_to(self, offset: int) -> None:
        """Forget everything at and above `offset`."""
        if offset >= self.next_offset:
            return
        gone = [s for s in self.segments if s.base_offset >= offset and s is not self.segments[0]]
        for segment in gone:
            segment.file.close()
            for path in segment.paths():
                path.unlink()
        self.segments = [segment for segment in self.segments if segment not in gone]
        self._bases = [segment.base_offset for segment in self.segments]
        self._cut(self.active, offset)
        self.next_offset = offset
        self.recovery_point = min(self.recovery_point, offset)
        self.log_start_offset = min(self.log_start_offset, offset)
        self.leader_epochs.truncate_to(offset)
        self._plan_roll()

    def reconfigure(self, config: TopicConfig) -> None:
        self.config = config
        self._plan_roll()

    def flush(self) -> None:
        """Bring everything to the disk. A failure is final: the log takes no more writes."""
        if self.is_failed:
            raise KafkaStorageError(f"{self.topic_partition} is offline after a failed flush")
        end = self.next_offset
        try:
            for segment in self.dirty_segments():
                segment.flush()
        except OSError as error:
            raise self.fail_flush(error) from error
        self.note_flushed(end)

    def dirty_segments(self) -> list[Segment]:
        """The segments with batches that may not be on disk yet."""
        if self.next_offset <= self.recovery_point:
            return []
        return [s for s in self.segments if s.next_offset > self.recovery_point]

    def note_flushed(self, end_offset: int) -> None:
        """Everything below `end_offset` is on disk; a truncation may have been quicker."""
        self.recovery_point = max(self.recovery_point, min(end_offset, self.next_offset))
        self._last_flush_ms = self.clock.now_ms()

    def fail_flush(self, error: Exception) -> KafkaStorageError:
        """Take no more writes: the kernel may have dropped what it could not write."""
        self.is_failed = True
        return KafkaStorageError(f"cannot flush {self.topic_partition}: {error}")

    def save_producers(self) -> None:
        """Write the producers' state as of the log's end; only the newest snapshots are kept."""
        name = f"{segment_stem(self.next_offset)}.snapshot"
        if self.next_offset:
            self.producers.save(self.directory / name)
        kept = sorted(self.directory.glob("*.snapshot"))
        for path in kept[:-SNAPSHOTS_KEPT]:
            path.unlink()

    def close(self) -> None:
        """Flush, save what speeds up the next start, and let go of the files."""
        self.flush()
        self.active.save_indexes()
        self.save_producers()
        for segment in self.segments:
            segment.close()

    def _is_full(self, segment: Segment, header: BatchHeader) -> bool:
        config = self.config
        if segment.size_bytes + header.batch_length + 12 > config.segment_bytes:
            return True
        last_offset = self.next_offset + header.last_offset_delta
        if last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
            return True
        if (len(segment.offset_index) + 1) * OFFSET_ENTRY_BYTES > config.segment_index_bytes:
            return True
        first = segment.first_timestamp
        if first is not None and first >= 0 and header.max_timestamp >= 0:
            return header.max_timestamp - first > self._roll_after_ms
        return self._is_old(segment, self.clock.now_ms())

    def _is_old(self, segment: Segment, now_ms: int) -> bool:
        first = segment.first_timestamp
        since = first if first is not None and first >= 0 else segment.created_ms
        return now_ms - since > self._roll_after_ms

    def _plan_roll(self) -> None:
        """Jitter keeps the partitions of a topic from rolling all at once."""
        jitter = self.config.segment_jitter_ms
        random_ms = random.randrange(min(jitter, self.config.segment_ms) + 1) if jitter else 0
        self._roll_after_ms = self.config.segment_ms - random_ms

    def _remember(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        base_offset: int,
        segment: Segment,
    ) -> None:
        if not header.is_control:
            self.producers.update(header, base_offset)
            return
        marker = read_marker(batch, header)
        aborted = self.producers.end_transaction(
            header,
            base_offset,
            coordinator_epoch=marker.coordinator_epoch,
            is_abort=marker.is_abort,
        )
        if aborted is not None:
            segment.transaction_index.append(aborted)

    def _slice(
        self, segment: Segment, position: int, max_bytes: int, end_offset: int, whole: bool
    ) -> FileSlice | None:
        end = segment.size_bytes
        if end_offset < segment.next_offset:
            end = segment.position_of(end_offset)
        if end <= position:
            return None
        size = min(max_bytes, end - position)
        first = segment.size_of_batch_at(position)
        if first > size:
            if not whole:
                return None
            size = first
        return FileSlice(segment.file, position, size, min(end_offset, segment.next_offset))

    def _with_epoch(self, found: TimedOffset | None) -> TimedOffset | None:
        if found is None:
            return None
        return found._replace(leader_epoch=self.leader_epochs.epoch_at(found.offset))

    def _cut(self, segment: Segment, offset: int) -> None:
        """Shorten a segment to what is below `offset`."""
        position = segment.position_of(offset) if offset > segment.base_offset else 0
        segment.offset_index.truncate_to(offset)
        segment.time_index.truncate_to(offset)
        segment.transaction_index.truncate_to(offset)
        segment.truncate(position)
        segment.reset_to(position, offset)

    def _add_segment(self, base_offset: int) -> None:
        segment = Segment(self.directory, base_offset, self.files, self.clock.now_ms())
        segment.start_empty()
        segment.touch()
        self.segments.append(segment)
        self._bases.append(base_offset)
        if base_offset:
            sync_directory(self.directory)
        self._plan_roll()
