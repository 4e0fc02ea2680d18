"""When answers wait for the disk, and what a failed flush means."""

import errno
import os
from pathlib import Path

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.flush import BackgroundFlush, GroupCommit, is_flush_due, needs_flush
from kwire.log.partition_log import PartitionLog
from kwire.tests.log.logs import Directory, Pool, append


class Disk:
    """Counts the syncs, and may make time pass or fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.syncs = 0
        self.now = 0.0
        self.seconds_each = 0.0
        self.is_broken = False
        monkeypatch.setattr(os, "fdatasync", self._sync)

    def _sync(self, fd: int) -> None:
        if self.is_broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.fstat(fd)
        self.syncs += 1
        self.now += self.seconds_each


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


class Waiting:
    """Those who wait for a flush, and what they were told."""

    def __init__(self) -> None:
        self.told: list[KafkaStorageError | None] = []

    def add(self, commit: GroupCommit, log: PartitionLog) -> None:
        append(log)
        commit.after_flush(log, self.told.append)


def test_all_who_wait_in_one_turn_share_one_flush(tmp_path: Path, disk: Disk) -> None:
    log, pool, waiting = Directory(tmp_path).log, Pool(), Waiting()
    commit = GroupCommit(pool, lambda: disk.now)
    for _ in range(5):
        waiting.add(commit, log)
    assert (disk.syncs, waiting.told) == (0, [])
    pool.run()
    assert (disk.syncs, waiting.told) == (1, [None] * 5)
    assert log.recovery_point == 5


def test_a_bug_of_one_who_waits_keeps_no_answer_from_the_others(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    log, pool, waiting = Directory(tmp_path).log, Pool(), Waiting()
    commit = GroupCommit(pool, lambda: disk.now)
    commit.after_flush(log, lambda _: waiting.told.remove(None))
    waiting.add(commit, log)
    pool.run()
    assert waiting.told == [None]
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_a_slow_disk_is_left_to_a_thread_and_who_comes_meanwhile_shares_the_next_flush(
    tmp_path: Path, disk: Disk
) -> None:
    log, pool, waiting = Directory(tmp_path).log, Pool(), Waiting()
    commit = GroupCommit(pool, lambda: disk.now)
    disk.seconds_each = 0.1
    waiting.add(commit, log)
    pool.run()
    waiting.add(commit, log)
    pool.soon.pop(0)()
    assert disk.syncs == 1
    waiting.add(commit, log)
    waiting.add(commit, log)
    pool.run()
    assert (disk.syncs, waiting.told) == (3, [None] * 4)
    assert log.recovery_point == 4


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_failed_flush_is_told_to_all_and_never_tried_again(
    tmp_path: Path, disk: Disk, is_slow: bool
) -> None:
    log, pool, waiting = Directory(tmp_path).log, Pool(), Waiting()
    commit = GroupCommit(pool, lambda: disk.now)
    commit.average_s = 1.0 if is_slow else 0.0
    disk.is_broken = True
    waiting.add(commit, log)
    waiting.add(commit, log)
    pool.run()
    assert [str(error) for error in waiting.told] == [
        "cannot flush t-0: [Errno 5] Input/output error"
    ] * 2
    disk.is_broken = False
    commit.after_flush(log, waiting.told.append)
    pool.run()
    assert "offline" in str(waiting.told[2])
    assert (disk.syncs, log.recovery_point) == (0, 0)


def test_a_flush_without_a_descriptor_is_refused_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Directory(tmp_path).log
    append(log)
    log.let_go()

    def no_descriptor(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_descriptor)
        with pytest.raises(KafkaStorageError, match="Too many open files"):
            log.flush()
    assert (log.is_failed, log.recovery_point) == (False, 0)
    log.flush()
    assert log.recovery_point == 1


def test_a_log_deleted_while_somebody_waits_harms_no_other(tmp_path: Path, disk: Disk) -> None:
    directory = Directory(tmp_path)
    pool, waiting = Pool(), Waiting()
    waiting.add(GroupCommit(pool, lambda: disk.now), directory.log)
    directory.store.delete(directory.log.topic_partition)
    pool.run()
    assert "was deleted" in str(waiting.told[0])
    assert directory.store.fault is None


def test_flush_messages_says_whose_answer_waits(tmp_path: Path) -> None:
    log = Directory(tmp_path, flush_messages=3).log
    append(log, 2)
    assert not needs_flush(log)
    append(log)
    assert needs_flush(log)
    log.flush()
    assert not needs_flush(log)


def test_flush_ms_says_when_a_dirty_log_has_waited_long_enough(tmp_path: Path) -> None:
    directory = Directory(tmp_path, flush_ms=1000)
    directory.clock.advance(5000)
    log = directory.log
    assert not is_flush_due(log, directory.clock.now_ms())
    append(log)
    assert is_flush_due(log, directory.clock.now_ms())
    log.flush()
    append(log)
    assert not is_flush_due(log, directory.clock.now_ms() + 999)
    assert is_flush_due(log, directory.clock.now_ms() + 1000)


def test_a_first_flush_syncs_the_names_of_the_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Directory(tmp_path).log
    append(log)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    log.flush()
    append(log)
    log.flush()
    partition = tmp_path / "t-0"
    assert sorted(synced) == sorted(
        map(str, (tmp_path, partition, partition / "leader-epoch-checkpoint"))
    )


def test_closed_segments_are_brought_to_disk_in_the_background(tmp_path: Path, disk: Disk) -> None:
    log, pool = Directory(tmp_path, segment_bytes=1000).log, Pool()
    background = BackgroundFlush(pool)
    for _ in range(5):
        append(log, size_bytes=900)
    background.flush_closed([log, log])
    background.flush_closed([log])
    pool.run()
    assert (disk.syncs, log.recovery_point, log.next_offset) == (4, 4, 5)
    background.flush_closed([log])
    pool.run()
    assert disk.syncs == 4


def test_a_failed_flush_in_the_background_takes_the_directory_offline(
    tmp_path: Path, disk: Disk
) -> None:
    log, pool = Directory(tmp_path, segment_bytes=1000).log, Pool()
    append(log, size_bytes=900)
    append(log, size_bytes=900)
    disk.is_broken = True
    BackgroundFlush(pool).flush_closed([log])
    pool.run()
    assert log.is_failed
    assert log.recovery_point == 0
