"""The log directory of a broker: which partitions are in it, and what it promises about them.

Beside the partitions' directories: `.lock` and `meta.properties` (see `directory`), checkpoints,
and `.kafka_cleanshutdown`, which is there only between a clean stop and the next start.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from kwire.clock import Clock
from kwire.config.topic import TopicConfig
from kwire.errors import KafkaStorageError
from kwire.log import checkpoints, recovery
from kwire.log.directory import (
    FoundTopic,
    claim,
    find_topics,
    lock,
    read_meta,
    read_topic_id,
    write_topic_id,
)
from kwire.log.files import OpenFiles, unlink_if_there, write_atomically
from kwire.log.partition_log import PartitionLog
from kwire.types import TopicPartition, new_uuid

CLEAN_MARKER = ".kafka_cleanshutdown"
DELETED_SUFFIX = "-delete"
MAX_NAME_BYTES = 255

_log = logging.getLogger(__name__)


class LogStore:
    def __init__(self, directory: Path, clock: Clock, *, max_open_files: int | None = None) -> None:
        self.directory = directory
        self._path = str(directory)
        self._clock = clock
        self._files = OpenFiles(max_open_files)
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._condemned: list[tuple[int, Path]] = []
        directory.mkdir(parents=True, exist_ok=True)
        self._lock_fd = lock(self._path)
        self.was_clean = os.path.exists(self._at(CLEAN_MARKER))
        """Whether the last broker on this directory stopped in order."""
        unlink_if_there(self._at(CLEAN_MARKER))
        # What the last broker wrote down about logs that were not opened yet, or cannot be.
        self._recovery_points = checkpoints.read_offsets(self._at(checkpoints.RECOVERY_POINTS))
        self._log_starts = checkpoints.read_offsets(self._at(checkpoints.LOG_STARTS))
        self._written = {
            checkpoints.RECOVERY_POINTS: dict(self._recovery_points),
            checkpoints.LOG_STARTS: dict(self._log_starts),
        }
        self._condemn_leftovers()

    def __iter__(self) -> Iterator[PartitionLog]:
        return iter(list(self._logs.values()))

    @property
    def fault(self) -> str | None:
        """Why the directory is offline; None while it is not."""
        return self._files.fault

    @property
    def cluster_id(self) -> str | None:
        """The cluster that the directory belongs to; None while nobody has claimed it."""
        return read_meta(self._path).get("cluster.id")

    def claim(self, node_id: int, cluster_id: str) -> None:
        """Write whose directory this is, or check that it is ours."""
        claim(self._path, node_id, cluster_id)

    def found(self) -> dict[str, FoundTopic]:
        """The topics that have partitions here, known to the cluster or not."""
        return find_topics(self._path)

    def get(self, topic_partition: TopicPartition) -> PartitionLog | None:
        return self._logs.get(topic_partition)

    def open_or_create(
        self, topic: str, partition: int, topic_id: bytes, config: TopicConfig
    ) -> PartitionLog:
        """The log of a partition; a directory left by another topic of that name is set aside."""
        topic_partition = TopicPartition(topic, partition)
        name = str(topic_partition)
        if self._files.fault is not None:
            raise self._files.offline()
        log = PartitionLog(
            topic_partition,
            topic_id,
            self.directory / name,
            config,
            self._clock,
            self._files,
            write_checkpoints=self.checkpoint,
        )
        try:
            if not self._set_aside_other(name, topic_id):
                self._create(log)
            else:
                self._load(log)
        except OSError as error:
            raise self._files.refusal(f"open {name}", error) from error
        self._recovery_points.pop(topic_partition, None)
        self._log_starts.pop(topic_partition, None)
        self._logs[topic_partition] = log
        return log

    def delete(self, topic_partition: TopicPartition) -> None:
        """Set the directory aside, opened or not; files go after `file.delete.delay.ms`."""
        self._recovery_points.pop(topic_partition, None)
        self._log_starts.pop(topic_partition, None)
        due_ms = self._clock.now_ms()
        log = self._logs.pop(topic_partition, None)
        if log is not None:
            log.retire(f"{topic_partition} was deleted")
            due_ms += log.config.file_delete_delay_ms
        try:
            self._condemn(str(topic_partition), due_ms)
        except FileNotFoundError:
            return
        except OSError as error:
            refusal = self._files.refusal(f"delete {topic_partition}", error)
            _log.error("directory stays topic_partition=%s: %s", topic_partition, refusal)

    def due_removals(self) -> list[Path]:
        """Directories whose time has come; removing them is work for a thread."""
        now_ms = self._clock.now_ms()
        due = [path for due_ms, path in self._condemned if due_ms <= now_ms]
        self._condemned = [entry for entry in self._condemned if entry[0] > now_ms]
        return due

    def checkpoint(self) -> None:
        """Write down how far each log is on disk, where it starts, and how far it may be read."""
        points, starts = dict(self._recovery_points), dict(self._log_starts)
        ends = {}
        for topic_partition, log in self._logs.items():
            points[topic_partition] = log.recovery_point
            ends[topic_partition] = log.next_offset
            if log.log_start_offset > log.segments[0].base_offset:
                starts[topic_partition] = log.log_start_offset
        self._write(checkpoints.RECOVERY_POINTS, points)
        self._write(checkpoints.LOG_STARTS, starts)
        # Nothing is lost with the last one: it is never more than the end of the log.
        self._write(checkpoints.HIGH_WATERMARKS, ends, durable=False)

    def _write(
        self, name: str, offsets: dict[TopicPartition, int], *, durable: bool = True
    ) -> None:
        if self._written.get(name) == offsets:
            return
        try:
            checkpoints.write_offsets(self._at(name), offsets, durable=durable)
        except OSError as error:
            raise self._files.refusal(f"write {name}", error) from error
        self._written[name] = offsets

    def close(self) -> None:
        """Bring all logs to the disk; only when that worked the stop counts as clean."""
        is_clean = True
        # First all files, then all syncs: the first sync then does much of the work for the others.
        for log in self:
            with suppress(KafkaStorageError):
                log.save()
        for log in self:
            try:
                log.close()
            except KafkaStorageError as error:
                is_clean = False
                _log.error("log not closed topic_partition=%s: %s", log.topic_partition, error)
        try:
            if self._files.fault is None:
                self.checkpoint()
            if is_clean:
                marker = b'{"version":0,"brokerEpoch":-1}'
                write_atomically(self._at(CLEAN_MARKER), marker)
        except (OSError, KafkaStorageError) as error:
            _log.error("stop not clean directory=%s: %s", self.directory, error)
        self.let_go()

    def let_go(self) -> None:
        """Leave the directory to the next broker, just as it is."""
        for log in self._logs.values():
            log.let_go()
        os.close(self._lock_fd)

    def _set_aside_other(self, name: str, topic_id: bytes) -> bool:
        """Whether the partition has a directory, one of another topic not counted."""
        path = self._at(name)
        if not os.path.isdir(path):
            return False
        found = read_topic_id(path)
        if found not in (None, topic_id):
            self._condemn(name, self._clock.now_ms())
            return False
        if found is None:
            write_topic_id(path, topic_id)
        return True

    def _create(self, log: PartitionLog) -> None:
        self._recovery_points.pop(log.topic_partition, None)
        self._log_starts.pop(log.topic_partition, None)
        if any(log.topic_partition in written for written in self._written.values()):
            # The checkpoints still speak of an older topic of that name.
            self.checkpoint()
        path = str(log.directory)
        os.mkdir(path)
        log.create()
        write_topic_id(path, log.topic_id)

    def _load(self, log: PartitionLog) -> None:
        topic_partition = log.topic_partition
        recovery.load(
            log,
            log_start_offset=self._log_starts.get(topic_partition, 0),
            recovery_point=self._recovery_points.get(topic_partition, 0),
            is_clean=self.was_clean,
        )

    def _condemn(self, name: str, due_ms: int) -> None:
        suffix = f".{new_uuid().hex()}{DELETED_SUFFIX}"
        target = self.directory / (name[: MAX_NAME_BYTES - len(suffix)] + suffix)
        os.rename(self._at(name), target)
        self._condemned.append((due_ms, target))

    def _condemn_leftovers(self) -> None:
        for name in os.listdir(self._path):
            if name.endswith(DELETED_SUFFIX):
                self._condemned.append((0, self.directory / name))

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"


def remove_directories(paths: Sequence[Path]) -> None:
    # It brings every archive format with it, which a start need not wait for.
    import shutil

    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
