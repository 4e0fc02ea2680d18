"""A log directory as a whole: locks, checkpoints, deletion, adoption."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.clock import ManualClock
from kwire.config.topic import TopicConfig
from kwire.errors import KafkaStorageError, OffsetOutOfRange
from kwire.log.directory import DirectoryInUse, ForeignDirectory, FoundTopic
from kwire.log.store import LogStore, remove_directories
from kwire.tests.log.logs import TOPIC_ID, Directory, append, offsets
from kwire.types import TopicPartition

T0 = TopicPartition("t", 0)
OTHER_ID = bytes(reversed(range(16)))


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_directory_is_held_by_one_broker_at_a_time(tmp_path: Path) -> None:
    store = LogStore(tmp_path, ManualClock())
    with pytest.raises(DirectoryInUse):
        LogStore(tmp_path, ManualClock())
    store.close()
    LogStore(tmp_path, ManualClock()).close()


def test_a_directory_belongs_to_the_broker_that_claimed_it(tmp_path: Path) -> None:
    store = LogStore(tmp_path, ManualClock())
    before = store.cluster_id
    store.claim(1, "a-cluster")
    store.claim(1, "a-cluster")
    assert (before, store.cluster_id) == (None, "a-cluster")
    assert lines(tmp_path / "meta.properties") == [
        "version=0",
        "broker.id=1",
        "cluster.id=a-cluster",
    ]
    with pytest.raises(ForeignDirectory, match=r"cluster\.id=a-cluster"):
        store.claim(1, "another")
    with pytest.raises(ForeignDirectory, match=r"broker\.id=1"):
        store.claim(2, "a-cluster")
    store.close()


def test_a_directory_of_kafka_without_zookeeper_can_be_claimed_by_its_node(tmp_path: Path) -> None:
    written = "#\n#Wed Nov 18\ncluster.id=of-kafka\ndirectory.id=x\nnode.id=3\nversion=1\n"
    (tmp_path / "meta.properties").write_text(written)
    store = LogStore(tmp_path, ManualClock())
    assert store.cluster_id == "of-kafka"
    store.claim(3, "of-kafka")
    with pytest.raises(ForeignDirectory):
        store.claim(1, "of-kafka")
    assert (tmp_path / "meta.properties").read_text() == written
    store.close()


def test_the_clean_marker_is_there_only_between_a_stop_and_the_next_start(tmp_path: Path) -> None:
    marker = tmp_path / ".kafka_cleanshutdown"
    directory = Directory(tmp_path)
    stops = [directory.store.was_clean]
    directory.stop()
    assert json.loads(marker.read_text()) == {"version": 0, "brokerEpoch": -1}
    directory.start()
    stops.append(directory.store.was_clean)
    assert not marker.exists()
    directory.restart(clean=False)
    stops.append(directory.store.was_clean)
    assert stops == [False, True, False]


def test_checkpoints_are_written_as_kafka_writes_them(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    other = directory.store.open_or_create("other-topic", 3, TOPIC_ID, TopicConfig())
    append(directory.log, 5)
    directory.log.flush()
    append(directory.log, 2)
    append(other, 4)
    other.delete_records_before(3)
    directory.store.checkpoint()
    recovery_points = tmp_path / "recovery-point-offset-checkpoint"
    assert recovery_points.read_text() == "0\n2\nother-topic 3 0\nt 0 5\n"
    assert lines(tmp_path / "log-start-offset-checkpoint") == ["0", "1", "other-topic 3 3"]
    assert lines(tmp_path / "replication-offset-checkpoint") == [
        "0",
        "2",
        "other-topic 3 4",
        "t 0 7",
    ]
    metadata = directory.file("partition.metadata").read_text()
    assert metadata == "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_only_checkpoints_that_changed_are_written(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 5)
    directory.store.checkpoint()
    names = ("recovery-point", "log-start", "replication")
    paths = [tmp_path / f"{name}-offset-checkpoint" for name in names]
    for path in paths:
        path.unlink(missing_ok=True)
    directory.store.checkpoint()
    assert [path.exists() for path in paths] == [False, False, False]
    directory.log.flush()
    directory.store.checkpoint()
    assert [path.exists() for path in paths] == [True, False, False]


def test_a_checkpoint_that_cannot_be_written_takes_the_directory_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 5)

    def fail(fd: int) -> None:
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KafkaStorageError, match="recovery-point-offset-checkpoint"):
        directory.store.checkpoint()
    assert directory.store.fault is not None
    directory.stop()


def test_a_deleted_partition_is_set_aside_and_removed_when_its_time_has_come(
    tmp_path: Path,
) -> None:
    directory = Directory(tmp_path, file_delete_delay_ms=1000)
    append(directory.log)
    directory.store.delete(T0)
    assert list(directory.store) == []
    assert directory.store.due_removals() == []
    directory.clock.advance(1000)
    due = directory.store.due_removals()
    assert [path.name.startswith("t-0.") and path.name.endswith("-delete") for path in due] == [
        True
    ]
    assert directory.store.due_removals() == []
    remove_directories(due)
    assert not due[0].exists()


def test_a_partition_that_cannot_be_opened_can_be_deleted(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log)
    directory.stop()
    directory.file("00000000000000000000.log").write_bytes(b"")
    store = LogStore(tmp_path, ManualClock())
    with pytest.raises(KafkaStorageError):
        store.open_or_create("t", 0, TOPIC_ID, TopicConfig())
    store.delete(T0)
    store.delete(T0)
    assert len(store.due_removals()) == 1
    assert store.found() == {}
    assert append(store.open_or_create("t", 0, TOPIC_ID, TopicConfig())).base_offset == 0
    store.close()


def test_who_still_holds_a_deleted_log_is_refused_and_harms_nobody(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    log = directory.log
    append(log, 3)
    directory.store.delete(T0)
    for use in (
        lambda: append(log),
        lambda: log.read(0, 100, end_offset=3),
        log.flush,
        lambda: log.offset_for_time(0, end_offset=3),
        lambda: log.delete_records_before(2),
    ):
        with pytest.raises(KafkaStorageError, match="t-0 was deleted"):
            use()
    assert directory.store.fault is None
    again = directory.store.open_or_create("t", 0, OTHER_ID, TopicConfig())
    assert append(again).base_offset == 0


def test_a_deletion_cut_short_is_finished_by_the_next_start(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    directory.store.delete(T0)
    directory.crash()
    store = LogStore(tmp_path, ManualClock())
    assert len(store.due_removals()) == 1
    store.close()


def test_a_topic_made_anew_under_an_old_name_starts_with_nothing(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 9)
    directory.log.delete_records_before(7)
    directory.stop()
    store = LogStore(tmp_path, ManualClock())
    log = store.open_or_create("t", 0, OTHER_ID, TopicConfig())
    assert (log.log_start_offset, log.next_offset) == (0, 0)
    append(log, 2)
    store.let_go()
    # Neither the old start nor the old recovery point may be taken for the new topic's.
    store = LogStore(tmp_path, ManualClock())
    log = store.open_or_create("t", 0, OTHER_ID, TopicConfig())
    assert offsets(log) == [0, 1]
    store.close()


def test_a_partition_that_cannot_be_opened_keeps_its_checkpoints(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 4, size_bytes=400)
    append(directory.log, 4, size_bytes=400)
    directory.log.delete_records_before(1)
    directory.stop()
    log_file = directory.file("00000000000000000000.log")
    data = log_file.read_bytes()
    log_file.write_bytes(data[:500])
    for _ in range(3):
        store = LogStore(tmp_path, ManualClock())
        with pytest.raises(KafkaStorageError, match="below the recovery point 8"):
            store.open_or_create("t", 0, TOPIC_ID, TopicConfig())
        assert store.fault is None
        store.close()
    log_file.write_bytes(data)
    log = directory.start()
    assert (log.log_start_offset, log.next_offset) == (1, 8)


def test_partitions_on_disk_are_found_by_their_topics(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    directory.store.open_or_create("t", 11, TOPIC_ID, TopicConfig())
    directory.store.open_or_create("with-dash.and_more", 0, OTHER_ID, TopicConfig())
    for name in ("__cluster_metadata-0", "old-1", "t-2.abc-delete", "t-4.abc-stray", "-7", "x"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-0").write_text("")
    assert directory.store.found() == {
        "old": FoundTopic(None, (1,)),
        "t": FoundTopic(TOPIC_ID, (0, 11)),
        "with-dash.and_more": FoundTopic(OTHER_ID, (0,)),
    }


def test_a_directory_without_an_id_takes_the_topics(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 3)
    directory.stop()
    directory.file("partition.metadata").unlink()
    assert directory.start().next_offset == 3
    assert directory.file("partition.metadata").exists()


def test_starts_and_new_partitions_cost_few_calls_for_each_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = dict.fromkeys(("open", "fsync", "fdatasync"), 0)

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return real(*arguments)

        return call

    store = LogStore(tmp_path, ManualClock())
    for name in calls:
        monkeypatch.setattr(os, name, counted(name))
    logs = [store.open_or_create("t", index, TOPIC_ID, TopicConfig()) for index in range(10)]
    assert calls == {"open": 2 * 10, "fsync": 0, "fdatasync": 0}
    for log in logs:
        append(log, size_bytes=5000)
        append(log, size_bytes=5000)
    store.close()
    store = LogStore(tmp_path, ManualClock())
    calls.update(dict.fromkeys(calls, 0))
    for index in range(10):
        store.open_or_create("t", index, TOPIC_ID, TopicConfig())
    # The topic's id, two indexes, epochs, the log, and a snapshot.
    assert calls == {"open": 6 * 10, "fsync": 0, "fdatasync": 0}
    store.close()


def test_thousands_of_partitions_share_a_few_descriptors(tmp_path: Path) -> None:
    store = LogStore(tmp_path, ManualClock(), max_open_files=20)
    logs = [store.open_or_create("t", index, TOPIC_ID, TopicConfig()) for index in range(100)]
    before = len(os.listdir("/proc/self/fd"))
    for round_ in range(2):
        for log in logs:
            append(log)
            assert log.read(round_, 1000, end_offset=round_ + 1) is not None
    assert len(os.listdir("/proc/self/fd")) - before <= 20
    store.close()
    store = LogStore(tmp_path, ManualClock(), max_open_files=20)
    for index in range(100):
        assert store.open_or_create("t", index, TOPIC_ID, TopicConfig()).next_offset == 2
    assert len(os.listdir("/proc/self/fd")) - before <= 20
    store.close()


def test_a_log_that_is_not_closed_makes_the_stop_unclean(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log)
    directory.log.files.give_up("test", OSError("broken"))
    directory.stop()
    assert not (tmp_path / ".kafka_cleanshutdown").exists()


def test_deleted_records_stay_out_of_reach_while_their_segment_is_there(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 5)
    directory.log.delete_records_before(3)
    log = directory.restart()
    with pytest.raises(OffsetOutOfRange):
        log.read(2, 1000, end_offset=5)
