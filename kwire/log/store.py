"""The log directory of a broker: who holds it, which partitions are in it, what it promises.

Beside the partitions' directories: `.lock` (one broker at a time), `meta.properties` (whose
directory it is), the checkpoints, and `.kafka_cleanshutdown`, which is there only between a clean
stop and the next start.
"""

import fcntl
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kwire.clock import Clock
from kwire.config.topic import TopicConfig
from kwire.errors import KafkaStorageError, KwireError
from kwire.log import checkpoints, recovery
from kwire.log.files import OpenFiles, write_atomically
from kwire.log.partition_log import PartitionLog
from kwire.types import TopicPartition, new_uuid, uuid_from_text, uuid_text

CLEAN_MARKER = ".kafka_cleanshutdown"
DELETED_SUFFIX = "-delete"
MAX_NAME_BYTES = 255

_log = logging.getLogger(__name__)


class DirectoryInUse(KwireError):
    """Another broker runs on this directory."""


class ForeignDirectory(KwireError):
    """The directory belongs to another broker or another cluster."""


class LogStore:
    def __init__(self, directory: Path, clock: Clock, *, max_open_files: int | None = None) -> None:
        self.directory = directory
        self._clock = clock
        self._files = OpenFiles(max_open_files)
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._condemned: list[tuple[int, Path]] = []
        directory.mkdir(parents=True, exist_ok=True)
        self._lock_fd = _lock(directory)
        marker = directory / CLEAN_MARKER
        self._was_clean = marker.exists()
        marker.unlink(missing_ok=True)
        self._recovery_points = checkpoints.read_offsets(directory / checkpoints.RECOVERY_POINTS)
        self._log_starts = checkpoints.read_offsets(directory / checkpoints.LOG_STARTS)
        self._condemn_leftovers()

    def __iter__(self) -> Iterator[PartitionLog]:
        return iter(list(self._logs.values()))

    @property
    def was_clean(self) -> bool:
        """Whether the last broker on this directory stopped in order."""
        return self._was_clean

    def claim(self, node_id: int, cluster_id: str) -> None:
        """Write whose directory this is, or check that it is ours."""
        path = self.directory / "meta.properties"
        if path.exists():
            known = _read_properties(path)
            for key, wanted in (("cluster.id", cluster_id), ("broker.id", str(node_id))):
                found = known.get(key, known.get("node.id") if key == "broker.id" else None)
                if found not in (None, wanted):
                    raise ForeignDirectory(
                        f"{self.directory} belongs to {key}={found}, this broker has {wanted}:"
                        " choose another --data-dir"
                    )
            return
        text = f"version=0\nbroker.id={node_id}\ncluster.id={cluster_id}\n"
        write_atomically(path, text.encode())

    def get(self, topic_partition: TopicPartition) -> PartitionLog | None:
        return self._logs.get(topic_partition)

    def open_or_create(
        self, topic: str, partition: int, topic_id: bytes, config: TopicConfig
    ) -> PartitionLog:
        """The log of a partition; a directory left by another topic of that name is set aside."""
        topic_partition = TopicPartition(topic, partition)
        directory = self.directory / str(topic_partition)
        try:
            if directory.exists() and _topic_id_of(directory) not in (None, topic_id):
                self._condemn(directory, self._clock.now_ms())
            log = PartitionLog(
                topic_partition, topic_id, directory, config, self._clock, self._files
            )
            if directory.exists():
                self._load(log)
            else:
                directory.mkdir()
                log.create()
            if _topic_id_of(directory) is None:
                _write_topic_id(directory, topic_id)
        except OSError as error:
            raise KafkaStorageError(f"cannot open {directory.name}: {error}") from error
        self._logs[topic_partition] = log
        return log

    def delete(self, topic_partition: TopicPartition) -> None:
        """Set the directory aside; its files go after `file.delete.delay.ms`."""
        log = self._logs.pop(topic_partition, None)
        if log is not None:
            for segment in log.segments:
                segment.file.close()
            due_ms = self._clock.now_ms() + log.config.file_delete_delay_ms
            self._condemn(log.directory, due_ms)

    def due_removals(self) -> list[Path]:
        """Directories whose time has come; removing them is work for a thread."""
        now_ms = self._clock.now_ms()
        due = [path for due_ms, path in self._condemned if due_ms <= now_ms]
        self._condemned = [entry for entry in self._condemned if entry[0] > now_ms]
        return due

    def checkpoint(self) -> None:
        """Write down how far each log is on disk, and where it starts."""
        points = {log.topic_partition: log.recovery_point for log in self}
        starts = {
            log.topic_partition: log.log_start_offset
            for log in self
            if log.log_start_offset > log.segments[0].base_offset
        }
        checkpoints.write_offsets(self.directory / checkpoints.RECOVERY_POINTS, points)
        checkpoints.write_offsets(self.directory / checkpoints.LOG_STARTS, starts)
        ends = {log.topic_partition: log.next_offset for log in self}
        checkpoints.write_offsets(self.directory / checkpoints.HIGH_WATERMARKS, ends)

    def close(self) -> None:
        """Bring all logs to the disk; only when that worked the stop counts as clean."""
        is_clean = True
        for log in self:
            try:
                log.close()
            except (OSError, KwireError) as error:
                is_clean = False
                _log.error("log not closed topic_partition=%s: %s", log.topic_partition, error)
        try:
            self.checkpoint()
            if is_clean:
                write_atomically(self.directory / CLEAN_MARKER, b'{"version":0,"brokerEpoch":-1}')
        except OSError as error:
            _log.error("checkpoints not written directory=%s: %s", self.directory, error)
        os.close(self._lock_fd)

    def _load(self, log: PartitionLog) -> None:
        topic_partition = log.topic_partition
        recovery.load(
            log,
            log_start_offset=self._log_starts.get(topic_partition, 0),
            recovery_point=self._recovery_points.get(topic_partition, 0),
            is_clean=self._was_clean,
        )

    def _condemn(self, directory: Path, due_ms: int) -> None:
        suffix = f".{new_uuid().hex()}{DELETED_SUFFIX}"
        kept = directory.name[: MAX_NAME_BYTES - len(suffix)]
        target = directory.with_name(kept + suffix)
        os.rename(directory, target)
        self._condemned.append((due_ms, target))

    def _condemn_leftovers(self) -> None:
        for name in os.listdir(self.directory):
            if name.endswith(DELETED_SUFFIX):
                self._condemned.append((0, self.directory / name))


def remove_directories(paths: list[Path]) -> None:
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def _lock(directory: Path) -> int:
    fd = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DirectoryInUse(
            f"another broker runs on {directory}: stop it, or choose another --data-dir"
        ) from None
    return fd


def _read_properties(path: Path) -> dict[str, str]:
    lines = [line.strip() for line in path.read_text().splitlines()]
    pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def _topic_id_of(directory: Path) -> bytes | None:
    try:
        text = (directory / "partition.metadata").read_text()
    except FileNotFoundError:
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "topic_id":
            try:
                return uuid_from_text(value.strip())
            except ValueError:
                return None
    return None


def _write_topic_id(directory: Path, topic_id: bytes) -> None:
    text = f"version: 0\ntopic_id: {uuid_text(topic_id)}"
    write_atomically(directory / "partition.metadata", text.encode(), durable=False)
