"""Records found by time, compared with looking through all of them."""

import struct
from pathlib import Path
from random import Random

import pytest

from kwire.codec.records.builder import TimestampType
from kwire.log.partition_log import PartitionLog
from kwire.log.time_lookup import TimedOffset
from kwire.tests.builders import A_TIMESTAMP, a_record
from kwire.tests.log.logs import Directory, append, read_records


def random_log(path: Path, seed: int) -> Directory:
    directory = Directory(path, segment_bytes=4000, index_interval_bytes=300)
    random = Random(seed)
    for _ in range(60):
        times = [A_TIMESTAMP + random.randrange(10_000) for _ in range(random.randint(1, 5))]
        records = [a_record(delta, timestamp=time) for delta, time in enumerate(times)]
        append(directory.log, records, codec=random.randrange(5))
    return directory


def slowly(log: PartitionLog, timestamp: int, start: int, end: int) -> tuple[int, int] | None:
    for record in read_records(log, start):
        if record.timestamp >= timestamp and start <= record.offset < end:
            return record.timestamp, record.offset
    return None


@pytest.mark.parametrize("seed", range(4))
def test_the_first_record_at_or_after_a_time_is_exact_in_any_batch(
    tmp_path: Path, seed: int
) -> None:
    directory = random_log(tmp_path, seed)
    for clean in (None, True, False):
        log = directory.log if clean is None else directory.restart(clean=clean)
        for timestamp in range(A_TIMESTAMP - 100, A_TIMESTAMP + 10_200, 501):
            end = log.next_offset
            found = log.offset_for_time(timestamp, end_offset=end)
            assert (found and found[:2]) == slowly(log, timestamp, 0, end)


@pytest.mark.parametrize("seed", range(3))
def test_only_records_between_the_start_and_the_end_are_found(tmp_path: Path, seed: int) -> None:
    log = random_log(tmp_path, seed).log
    start, end = 37, log.next_offset - 41
    log.delete_records_before(start)
    for timestamp in range(A_TIMESTAMP - 100, A_TIMESTAMP + 10_200, 501):
        found = log.offset_for_time(timestamp, end_offset=end)
        assert (found and found[:2]) == slowly(log, timestamp, start, end)
    newest = max(r.timestamp for r in read_records(log) if start <= r.offset < end)
    found = log.max_timestamp_offset(end_offset=end)
    assert (found and found[:2]) == slowly(log, newest, start, end)


@pytest.mark.parametrize("shift", [-3, 3])
def test_an_index_that_lies_is_not_used(tmp_path: Path, shift: int) -> None:
    directory = random_log(tmp_path, 1)
    directory.stop()
    for path in tmp_path.glob("t-0/*.timeindex"):
        entries = list(struct.iter_unpack(">qi", path.read_bytes()))
        lies = [struct.pack(">qi", time, max(0, offset + shift)) for time, offset in entries[:-1]]
        path.write_bytes(b"".join([*lies, struct.pack(">qi", *entries[-1])]))
    log = directory.start()
    for timestamp in range(A_TIMESTAMP - 100, A_TIMESTAMP + 10_200, 501):
        found = log.offset_for_time(timestamp, end_offset=log.next_offset)
        assert (found and found[:2]) == slowly(log, timestamp, 0, log.next_offset)


def test_the_newest_record_is_the_first_with_the_largest_time(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    assert log.max_timestamp_offset(end_offset=0) is None
    for times in ((5, 9, 7), (9, 1), (3, 3)):
        records = [a_record(delta, timestamp=time) for delta, time in enumerate(times)]
        append(log, records, epoch=4)
    assert log.max_timestamp_offset(end_offset=7) == TimedOffset(9, 1, leader_epoch=4)


def test_with_log_append_time_every_record_has_the_time_of_its_batch(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    for time in (100, 200, 300):
        append(log, 4, timestamp=time - 3, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert log.offset_for_time(101, end_offset=12) == (200, 4, 0)
    assert log.offset_for_time(300, end_offset=12) == (300, 8, 0)
    assert log.max_timestamp_offset(end_offset=12) == (300, 8, 0)
    assert log.offset_for_time(301, end_offset=12) is None


def test_a_record_without_a_time_is_never_the_newest(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    append(log, [a_record(timestamp=-1)])
    assert log.max_timestamp_offset(end_offset=1) is None
    assert log.offset_for_time(0, end_offset=1) is None
