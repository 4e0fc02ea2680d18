"""Rounds of compaction, from measuring dirt to what readers find afterwards."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwire.codec.records.batch import each_batch
from kwire.codec.records.record import Record
from kwire.config.keys import MIB
from kwire.log import checkpoints
from kwire.log.cleaner import BREATH_BYTES, LONGEST_NAP_S, Cleaner, Pace, measure
from kwire.log.compaction import Prepared
from kwire.log.partition_log import PartitionLog
from kwire.log.trash import Trash
from kwire.tests.builders import A_TIMESTAMP
from kwire.tests.log.logs import (
    Directory,
    Pool,
    append,
    append_marker,
    offsets,
    read_bytes,
    read_records,
)

DAY_MS = 24 * 3600 * 1000


def compacted(path: Path, **settings: Any) -> Directory:
    options = {"segment_bytes": 1500, "index_interval_bytes": 200, **settings}
    return Directory(path, cleanup_policy=frozenset({"compact"}), **options)


def put(log: PartitionLog, *pairs: tuple[str, str | None], **options: Any) -> None:
    records = [
        Record(delta, A_TIMESTAMP + delta, key.encode(), None if value is None else value.encode())
        for delta, (key, value) in enumerate(pairs)
    ]
    append(log, records, **options)


def clean(directory: Directory, log: PartitionLog | None = None) -> list[Prepared | None]:
    """One round over the whole log; returns what was installed."""
    pool = Pool()
    cleaner = Cleaner(pool, directory.clock, Trash(pool), directory.path, key_map_bytes=MIB)
    log = log or directory.log
    outcomes: list[Prepared | None] = []
    cleaner.clean_dirtiest([(log, log.first_unstable_offset or log.next_offset)], outcomes.append)
    pool.run()
    return outcomes


def latest(records: Iterable[Record]) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in records}


def fill(log: PartitionLog, seed: int, batches: int = 60) -> dict[bytes | None, bytes | None]:
    random = Random(seed)
    for number in range(batches):
        pairs = [
            (
                f"key-{random.randrange(12)}",
                f"{number}-{random.random()}" if random.random() < 0.9 else None,
            )
            for _ in range(random.randint(1, 4))
        ]
        put(log, *pairs)
    expected = latest(read_records(log))
    log.roll()
    return expected


@pytest.mark.parametrize("seed", range(5))
def test_the_last_value_of_each_key_survives_at_its_offset(tmp_path: Path, seed: int) -> None:
    directory = compacted(tmp_path)
    expected = fill(directory.log, seed)
    before = {record.offset: record for record in read_records(directory.log)}
    end = directory.log.next_offset
    assert clean(directory)[0] is not None
    for restart in (None, True, False):
        log = directory.log if restart is None else directory.restart(clean=restart)
        records = read_records(log)
        assert latest(records) == expected
        assert len(records) == len(expected)
        assert all(before[record.offset] == record for record in records)
        assert log.next_offset == end


def test_segments_without_records_need_no_new_indexes_at_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = compacted(tmp_path, segment_bytes=200)
    for number in range(6):
        put(directory.log, ("key", f"{number}" * 100))
    assert clean(directory)[0] is not None
    assert offsets(directory.log) == [4, 5]
    assert len(directory.restart().segments) > 2
    assert "indexes rebuilt" not in caplog.text


def test_a_second_round_finds_nothing_to_do(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 1)
    assert len(clean(directory)) == 1
    assert clean(directory) == []
    assert (tmp_path / "cleaner-offset-checkpoint").read_text().startswith("0\n1\nt 0 ")


def test_small_neighbours_are_joined_into_one_segment(tmp_path: Path) -> None:
    directory = compacted(tmp_path, min_cleanable_dirty_ratio=0.0)
    expected = fill(directory.log, 2)
    many = len(directory.log.segments)
    clean(directory)
    put(directory.log, ("one", "more"))
    directory.log.roll()
    clean(directory)
    assert len(directory.log.segments) < many / 2
    assert latest(read_records(directory.log)) == {**expected, b"one": b"more"}
    assert all(segment.size_bytes <= 1500 for segment in directory.log.segments)


def test_a_tombstone_goes_after_delete_retention_and_not_before(tmp_path: Path) -> None:
    directory = compacted(tmp_path, delete_retention_ms=DAY_MS, min_cleanable_dirty_ratio=0.0)
    log = directory.log
    put(log, ("a", "1"), ("b", "1"))
    put(log, ("a", None))
    log.roll()
    clean(directory)
    assert latest(read_records(log)) == {b"b": b"1", b"a": None}
    for days, expected in ((0, {b"b": b"1", b"a": None}), (1, {b"b": b"1"})):
        directory.clock.advance(days * DAY_MS)
        put(log, ("c", str(days)))
        log.roll()
        clean(directory)
        assert latest(read_records(log)) == {**expected, b"c": str(days).encode()}


def test_the_newest_batch_of_a_producer_stays_as_a_bare_header(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    log = directory.log
    put(log, ("a", "1"), producer_id=5, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"))
    put(log, ("b", "2"))
    log.roll()
    clean(directory)
    headers = [header for _, header in each_batch(read_bytes(log))]
    assert [(header.producer_id, header.records_count) for header in headers] == [
        (5, 0),
        (-1, 1),
        (-1, 1),
    ]
    assert offsets(log) == [1, 2]
    for path in directory.path.glob("t-0/*.snapshot"):
        path.unlink()
    log = directory.restart(clean=False)
    assert append(log, producer_id=5, producer_epoch=0, base_sequence=1).base_offset == 3


def test_aborted_records_go_at_once_and_markers_after_delete_retention(tmp_path: Path) -> None:
    directory = compacted(tmp_path, delete_retention_ms=DAY_MS, min_cleanable_dirty_ratio=0.0)
    log = directory.log
    transaction = {"producer_epoch": 0, "transactional": True}
    put(log, ("a", "kept"))
    put(log, ("a", "aborted"), producer_id=5, base_sequence=0, **transaction)
    append_marker(log, 5, is_abort=True)
    put(log, ("b", "committed"), producer_id=6, base_sequence=0, **transaction)
    append_marker(log, 6, is_abort=False)
    for producer_id in (5, 6):
        put(log, ("z", "z"), producer_id=producer_id, producer_epoch=0, base_sequence=1)
    log.roll()
    clean(directory)
    expected = {b"a": b"kept", b"b": b"committed", b"z": b"z"}
    assert latest(read_records(log)) == expected
    assert _markers(log) == [2, 4]
    directory.clock.advance(DAY_MS)
    for _ in range(2):
        put(log, ("c", "c"))
        log.roll()
        clean(directory)
        directory.clock.advance(DAY_MS)
    assert latest(read_records(log)) == {**expected, b"c": b"c"}
    # The commit marker stays as long as a record of its transaction does.
    assert _markers(log) == [4]


def _markers(log: PartitionLog) -> list[int]:
    batches = each_batch(read_bytes(log))
    return [h.base_offset for _, h in batches if h.is_control and h.records_count]


def test_what_an_open_transaction_reaches_is_left_alone(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    log = directory.log
    put(log, ("a", "1"), ("a", "2"))
    put(log, ("a", "3"), producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    log.roll()
    assert clean(directory) == []
    append_marker(log, 5, is_abort=False)
    assert clean(directory) != []


def test_records_younger_than_min_compaction_lag_are_left_alone(tmp_path: Path) -> None:
    directory = compacted(tmp_path, min_compaction_lag_ms=1000)
    put(directory.log, ("a", "1"), ("a", "2"))
    directory.log.roll()
    assert clean(directory) == []
    directory.clock.advance(1002)
    assert clean(directory) != []


def test_old_dirt_is_compacted_however_little_it_is(tmp_path: Path) -> None:
    directory = compacted(tmp_path, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=1000)
    put(directory.log, ("a", "1"), ("a", "2"))
    directory.log.roll()
    assert clean(directory) == []
    directory.clock.advance(1002)
    assert clean(directory) != []


def test_dirt_is_what_was_written_since_the_last_round(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    log = directory.log
    put(log, ("a", "1"))
    log.roll()
    put(log, ("b", "1"))
    log.roll()
    dirt = measure(log, cleaned_to=1, last_stable_offset=2, now_ms=A_TIMESTAMP)
    assert (dirt.first_dirty_offset, dirt.end_offset) == (1, 2)
    assert dirt.ratio == pytest.approx(0.5)
    # A checkpoint that lies outside of the log speaks of another log.
    assert measure(log, cleaned_to=7, last_stable_offset=2, now_ms=0).first_dirty_offset == 0


def test_a_log_deleted_meanwhile_is_left_in_peace(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 3)
    pool = Pool()
    cleaner = Cleaner(pool, directory.clock, Trash(pool), directory.path, key_map_bytes=MIB)
    log, outcomes = directory.log, list[Prepared | None]()
    assert cleaner.clean_dirtiest([(log, log.next_offset)], outcomes.append)
    assert not cleaner.clean_dirtiest([(log, log.next_offset)])
    directory.store.delete(log.topic_partition)
    cleaner.forget(log.topic_partition)
    pool.run()
    assert outcomes == [None]
    assert directory.store.fault is None


def test_a_damaged_log_is_not_tried_again(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 4)
    path = Path(directory.log.segments[1].file.path)
    data = bytearray(path.read_bytes())
    data[70] ^= 1
    path.write_bytes(data)
    pool = Pool()
    cleaner = Cleaner(pool, directory.clock, Trash(pool), directory.path, key_map_bytes=MIB)
    before = directory.names()
    assert cleaner.clean_dirtiest([(directory.log, directory.log.next_offset)])
    pool.run()
    assert not cleaner.clean_dirtiest([(directory.log, directory.log.next_offset)])
    assert directory.names() == before


def test_a_pace_gives_way_and_keeps_to_its_rate() -> None:
    now, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(100_000, lambda: now[0], sleep)
    for _ in range(30):
        pace.worked(10_000)
    assert max(slept) == LONGEST_NAP_S
    assert now[0] == pytest.approx(2.8)


def test_a_pace_holds_nobody_up_whose_work_is_not_wanted_any_longer() -> None:
    slept = list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        pace.is_over = True

    pace = Pace(1, lambda: 0.0, sleep)
    pace.worked(BREATH_BYTES)
    assert slept == [LONGEST_NAP_S]


def test_limits_that_changed_count_from_the_next_round_on(tmp_path: Path) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 4)
    pool = Pool()
    cleaner = Cleaner(pool, directory.clock, Trash(pool), directory.path, key_map_bytes=MIB)
    cleaner.reconfigure(key_map_bytes=1, bytes_per_second=1e9)
    outcomes = list[Prepared | None]()
    assert cleaner.clean_dirtiest([(directory.log, directory.log.next_offset)], outcomes.append)
    pool.run()
    (outcome,) = outcomes
    assert outcome is not None
    assert outcome.cleaned_to < directory.log.active.base_offset


def test_a_full_disk_keeps_no_log_from_being_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    directory = compacted(tmp_path)
    fill(directory.log, 4)
    pool = Pool()
    cleaner = Cleaner(pool, directory.clock, Trash(pool), directory.path, key_map_bytes=MIB)
    cleaner.clean_dirtiest([(directory.log, directory.log.next_offset)])
    pool.run()

    def refuse(path: str, offsets: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoints, "write_offsets", refuse)
    cleaner.forget(directory.log.topic_partition)
    assert "No space left" in caplog.text
