"""Starts after clean stops, crashes and damage, compared with what was written."""

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwire.errors import KafkaStorageError
from kwire.log.partition_log import PartitionLog
from kwire.log.producers import Producers
from kwire.log.retention import delete_expired
from kwire.log.trash import Trash
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.log.logs import (
    Directory,
    Pool,
    append,
    append_marker,
    offsets,
    read_bytes,
    read_records,
)

LOG = "00000000000000000000.log"
DERIVED = (".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint")


def filled(path: Path, seed: int, batches: int = 60) -> Directory:
    """A log of several segments with idle and transactional producers, and several epochs."""
    directory = Directory(path, segment_bytes=6000, index_interval_bytes=500)
    random = Random(seed)
    sequences = dict.fromkeys(range(4), 0)
    is_open: dict[int, bool] = {}
    for number in range(batches):
        producer_id = random.randrange(4)
        if is_open.get(producer_id) and random.random() < 0.3:
            append_marker(directory.log, producer_id, is_abort=random.random() < 0.5)
            is_open[producer_id] = False
            continue
        count = random.randint(1, 5)
        is_transactional = producer_id > 1
        append(
            directory.log,
            count,
            size_bytes=random.randint(300, 900),
            timestamp=A_TIMESTAMP + number * 10 + random.randint(-50, 50),
            epoch=number // 25,
            codec=0,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequences[producer_id],
            transactional=is_transactional,
        )
        sequences[producer_id] += count
        is_open[producer_id] = is_transactional
    return directory


def told(log: PartitionLog) -> dict[str, object]:
    """All that a log tells about itself; restarts must not change it."""
    end = log.next_offset
    return {
        "bytes": read_bytes(log),
        "end": end,
        "epochs": log.leader_epochs.entries,
        "aborted": log.aborted_transactions(0, end),
        "unstable": log.first_unstable_offset,
        "producers": _summary(log.producers),
        "by time": [
            log.offset_for_time(A_TIMESTAMP + ms, end_offset=end) for ms in range(-60, 700, 35)
        ],
        "newest": log.max_timestamp_offset(end_offset=end),
        "reads": [_start_of_read(log, offset) for offset in range(0, end, 3)],
    }


def _summary(producers: Producers) -> dict[int, tuple[int, int, int]]:
    return {pid: (p.epoch, p.next_sequence, p.open_since) for pid, p in producers}


def _start_of_read(log: PartitionLog, offset: int) -> bytes:
    piece = log.read(offset, 100, end_offset=log.next_offset)
    return b"" if piece is None else bytes(piece)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_changes_over_clean_stops_and_crashes(tmp_path: Path, seed: int) -> None:
    directory = filled(tmp_path, seed)
    before = told(directory.log)
    for clean in (True, True, False, False, True):
        assert told(directory.restart(clean=clean)) == before


@pytest.mark.parametrize("seed", range(6))
def test_a_log_goes_on_after_a_crash_as_if_nothing_had_been(tmp_path: Path, seed: int) -> None:
    crashed = filled(tmp_path / "crashed", seed)
    lasting = filled(tmp_path / "lasting", seed)
    crashed.restart(clean=False)
    for directory in (crashed, lasting):
        for number in range(30):
            append(directory.log, size_bytes=500 + number, timestamp=A_TIMESTAMP + 900, epoch=3)
    assert told(crashed.log) == told(lasting.log)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("how", ["deleted", "emptied", "cut", "zeroed", "garbage"])
def test_all_that_is_derived_is_found_again(
    tmp_path: Path, how: str, seed: int, clean: bool
) -> None:
    directory = filled(tmp_path, seed)
    before = told(directory.log)
    if clean:
        directory.stop()
    else:
        directory.crash()
    _damage(directory, how, seed)
    assert told(directory.start()) == before


def _damage(directory: Directory, how: str, seed: int) -> None:
    for name in sorted(directory.names()):
        if not name.endswith(DERIVED):
            continue
        path = directory.file(name)
        data = path.read_bytes()
        if how == "deleted":
            path.unlink()
        elif how == "emptied" and not name.endswith(".txnindex"):
            path.write_bytes(b"")
        elif how == "cut":
            path.write_bytes(data[: len(data) * 2 // 3 | 1])
        elif how == "zeroed" and not name.endswith(".txnindex"):
            path.write_bytes(bytes(len(data)))
        elif how == "garbage" and not name.endswith(".txnindex"):
            path.write_bytes(Random(seed).randbytes(len(data)))


@pytest.mark.parametrize("seed", range(25))
def test_a_torn_tail_is_cut_after_the_last_whole_batch(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    directory = filled(tmp_path, seed % 5)
    last = directory.log.active
    stored = read_bytes(directory.log)
    starts = [position for position, _ in last.walk()]
    ends = [*starts[1:], last.size_bytes]
    directory.crash()
    cut = random.randrange(last.size_bytes)
    path = Path(last.file.path)
    tail = random.choice([b"", bytes(700), random.randbytes(700)])
    path.write_bytes(path.read_bytes()[:cut] + tail)
    log = directory.start()
    lost = last.size_bytes - max((end for end in ends if end <= cut), default=0)
    assert read_bytes(log) == stored[: len(stored) - lost]
    assert append(log).base_offset == log.next_offset - 1
    assert told(directory.restart(clean=False)) == told(log := directory.log)
    assert len(read_bytes(log)) == len(stored) - lost + len(a_batch())


@pytest.mark.parametrize("seed", range(10))
def test_a_flipped_bit_in_what_was_not_flushed_ends_the_log_there(
    tmp_path: Path, seed: int
) -> None:
    directory = filled(tmp_path, seed % 3)
    last = directory.log.active
    located = list(last.walk())
    hit = located[len(located) // 2]
    directory.crash()
    # Offsets and epochs, the first sixteen bytes, are not under the checksum.
    _flip(last.file.path, hit.position + 16 + Random(seed).randrange(hit.header.size_bytes - 16))
    assert directory.start().next_offset == hit.header.base_offset


def _flip(path: str, position: int) -> None:
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 0x10]))


def test_a_damaged_older_segment_is_reported_and_not_cut(tmp_path: Path) -> None:
    directory = filled(tmp_path, 1)
    first = directory.log.segments[0]
    batch = list(first.walk())[3]
    size = first.size_bytes
    directory.crash()
    _flip(first.file.path, batch.position + 100)
    for _ in range(2):
        with pytest.raises(KafkaStorageError, match=rf"{LOG} is damaged at byte {batch.position} "):
            directory.start()
        assert directory.file(LOG).stat().st_size == size
    _flip(first.file.path, batch.position + 100)
    assert directory.start().log_start_offset == 0


def test_damage_below_the_recovery_point_is_reported_and_not_cut(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    for _ in range(10):
        append(directory.log, size_bytes=300)
    directory.log.flush()
    append(directory.log, size_bytes=300)
    directory.store.checkpoint()
    directory.crash()
    _flip(str(directory.file(LOG)), 1600)
    for _ in range(2):
        with pytest.raises(KafkaStorageError, match=r"byte 1500.*below the recovery point 10"):
            directory.start()
    assert directory.file(LOG).stat().st_size == 3300


@pytest.mark.parametrize("clean", [True, False])
def test_batches_missing_below_the_recovery_point_are_reported(tmp_path: Path, clean: bool) -> None:
    directory = Directory(tmp_path)
    for _ in range(10):
        append(directory.log, size_bytes=300)
    directory.log.flush()
    directory.store.checkpoint()
    if clean:
        directory.stop()
    else:
        directory.crash()
    os.truncate(directory.file(LOG), 1500)
    with pytest.raises(KafkaStorageError, match="below the recovery point 10"):
        directory.start()


def test_a_directory_that_lost_its_segments_is_reported(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log)
    directory.stop()
    directory.file(LOG).unlink()
    with pytest.raises(KafkaStorageError, match="has no segments"):
        directory.start()


def test_segments_on_disk_are_not_read_again_after_a_crash(tmp_path: Path) -> None:
    directory = filled(tmp_path, 2)
    before = told(directory.log)
    directory.log.flush()
    directory.log.roll()
    directory.store.checkpoint()
    directory.crash()
    index = directory.file(LOG.replace(".log", ".index"))
    modified_ns = index.stat().st_mtime_ns
    assert told(directory.start()) == before
    assert index.stat().st_mtime_ns == modified_ns


@pytest.mark.parametrize("byte", range(4))
def test_an_offset_that_cannot_be_ends_the_log_there(tmp_path: Path, byte: int) -> None:
    directory = Directory(tmp_path)
    for _ in range(10):
        append(directory.log, size_bytes=300)
    directory.crash()
    _flip(str(directory.file(LOG)), 1500 + byte)
    assert directory.start().next_offset == 5


def test_records_that_were_deleted_and_then_lost_do_not_free_their_offsets(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    for _ in range(10):
        append(directory.log, size_bytes=300)
    directory.log.delete_records_before(8)
    directory.store.checkpoint()
    directory.crash()
    os.truncate(directory.file(LOG), 1000)
    log = directory.start()
    assert (log.log_start_offset, log.next_offset) == (8, 8)
    append(log)
    assert offsets(directory.restart()) == [8]


def test_a_full_disk_does_not_keep_a_log_from_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = filled(tmp_path, 3)
    before = told(directory.log)
    directory.crash()
    for name in sorted(directory.names()):
        if name.endswith(DERIVED):
            directory.file(name).unlink()

    def fail(fd: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("kwire.log.files.write_fully", fail)
        assert told(directory.start()) == before
    assert told(directory.restart()) == before
    assert directory.store.was_clean


def test_an_empty_directory_of_a_partition_becomes_an_empty_log(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    directory.crash()
    directory.file(LOG).unlink()
    log = directory.start()
    assert (log.log_start_offset, log.next_offset) == (0, 0)
    assert append(log).base_offset == 0


class Killed(BaseException):
    """The process ends here."""


class Killer:
    """Ends the process before a given call that changes a file; a write is torn in the middle."""

    CALLS = ("write", "open", "rename", "unlink", "ftruncate", "truncate")

    def __init__(self, patch: pytest.MonkeyPatch, after: int) -> None:
        self._left = after
        for name in self.CALLS:
            patch.setattr(os, name, self._wrap(name, getattr(os, name)))

    def _wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            is_harmless = name == "open" and not arguments[1] & os.O_CREAT
            if not is_harmless:
                self._left -= 1
                if self._left < 0:
                    if name == "write":
                        real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                    raise Killed
            return real(*arguments)

        return call


class Busy:
    """Some of all that can happen to a log, and what must be in it whenever the process ends."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.values: dict[int, bytes] = {}
        self.must_have: set[int] = set()

    def run(self) -> None:
        log = self.directory.log
        self._append(range(12))
        log.flush()
        self.directory.store.checkpoint()
        self._append(range(12, 20))
        self.must_have -= set(range(9, 20))
        log.truncate_to(9)
        self._append(range(20, 30), epoch=1)
        self.must_have -= set(range(6))
        log.delete_records_before(6)
        delete_expired(log, high_watermark=16, now_ms=A_TIMESTAMP, trash=Trash(Pool()))
        self._append(range(30, 36), epoch=1)
        log.flush()
        self.directory.stop()

    def _append(self, numbers: range, epoch: int = 0) -> None:
        for number in numbers:
            log = self.directory.log
            value = b"%d" % number * 100
            self.values[log.next_offset] = value
            append(log, [a_record(value=value)], epoch=epoch)
            self.must_have.add(log.next_offset - 1)


@pytest.mark.parametrize("calls", range(0, 200, 2))
def test_a_log_killed_at_any_moment_has_what_it_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    directory = Directory(tmp_path, segment_bytes=1000, index_interval_bytes=300)
    busy = Busy(directory)
    with monkeypatch.context() as patch:
        Killer(patch, after=calls)
        with contextlib.suppress(Killed):
            busy.run()
    with contextlib.suppress(OSError):
        directory.crash()
    for clean in (False, True):
        log = directory.start()
        found = {record.offset: record.value for record in read_records(log)}
        assert list(found) == [*range(log.log_start_offset, log.next_offset)]
        assert busy.must_have <= found.keys()
        assert found.items() <= busy.values.items()
        if clean:
            append(log)
        directory.stop()
