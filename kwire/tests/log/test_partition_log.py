"""Appending, rolling, reading and cutting one log."""

from pathlib import Path

import pytest

from kwire.codec.records.batch import each_batch, parse_header
from kwire.codec.records.builder import TimestampType
from kwire.errors import InvalidProducerEpoch, OffsetOutOfRange, OutOfOrderSequence
from kwire.log.transaction_index import AbortedTxn
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.log.logs import (
    KIB,
    Directory,
    append,
    append_marker,
    offsets,
    read_bytes,
    read_records,
)


def test_batches_get_offsets_that_follow_each_other(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    assert append(log, 3) == (0, 3, -1, False)
    assert append(log, 2) == (3, 5, -1, False)
    assert offsets(log) == [0, 1, 2, 3, 4]


def test_a_batch_carries_its_offset_and_leader_epoch_and_is_otherwise_unchanged(
    tmp_path: Path,
) -> None:
    log = Directory(tmp_path).log
    append(log, 3)
    append(log, 2, epoch=7)
    stored = read_bytes(log, 3)
    header = parse_header(stored)
    assert (header.base_offset, header.partition_leader_epoch) == (3, 7)
    assert stored[16:] == a_batch(2)[16:]
    assert log.leader_epochs.entries == [(0, 0), (7, 3)]


def test_a_batch_that_does_not_fit_opens_the_next_segment(tmp_path: Path) -> None:
    log = Directory(tmp_path, segment_bytes=1000).log
    for _ in range(3):
        append(log, size_bytes=400)
    assert [segment.base_offset for segment in log.segments] == [0, 2]
    assert [segment.size_bytes for segment in log.segments] == [800, 400]
    assert offsets(log) == [0, 1, 2]


def test_a_read_across_segments_goes_on_in_the_next_one(tmp_path: Path) -> None:
    log = Directory(tmp_path, segment_bytes=1000).log
    for _ in range(10):
        append(log, 2, size_bytes=400)
    assert [record.offset for record in read_records(log, 7)] == [*range(6, 20)]


@pytest.mark.parametrize("offset", [0, 1, 17, 300, 599])
def test_an_offset_within_a_batch_yields_that_batch_from_its_start(
    tmp_path: Path, offset: int
) -> None:
    log = Directory(tmp_path).log
    for _ in range(200):
        append(log, 3, size_bytes=300)
    piece = log.read(offset, 300, end_offset=600)
    assert piece is not None
    assert parse_header(bytes(piece)).base_offset == offset // 3 * 3


def test_the_first_batch_is_returned_whole_however_large(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    append(log, size_bytes=5000)
    append(log, size_bytes=5000)
    piece = log.read(0, 10, end_offset=2)
    assert piece is not None
    assert piece.size == 5000
    assert log.read(0, 10, end_offset=2, whole_first_batch=False) is None


def test_a_slice_may_end_within_a_batch_but_not_before_max_bytes(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    for _ in range(10):
        append(log, size_bytes=500)
    piece = log.read(0, 1200, end_offset=10)
    assert piece is not None
    assert piece.size == 1200
    assert len(list(each_batch(bytes(piece)))) == 2


def test_nothing_is_returned_at_or_above_the_end_that_was_asked_for(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    for _ in range(5):
        append(log, 2, size_bytes=500)
    piece = log.read(0, 100 * KIB, end_offset=6)
    assert piece is not None
    assert piece.size == 1500
    assert piece.end_offset == 6
    assert log.read(6, 100 * KIB, end_offset=6) is None


def test_an_end_within_a_batch_leaves_the_batch_out(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    for _ in range(5):
        append(log, 2, size_bytes=500)
    piece = log.read(0, 100 * KIB, end_offset=5)
    assert piece is not None
    assert piece.size == 1000
    assert log.read(4, 100 * KIB, end_offset=5) is None


def test_offsets_outside_the_log_are_refused(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    append(log, 10)
    log.delete_records_before(4)
    for offset in (-1, 3, 11):
        with pytest.raises(OffsetOutOfRange):
            log.read(offset, KIB, end_offset=10)
    assert log.read(10, KIB, end_offset=10) is None


def test_a_batch_sent_again_is_answered_with_its_first_offset_and_time(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    for sequence in range(7):
        append(log, 1, producer_id=9, producer_epoch=0, base_sequence=sequence)
    again = append(log, 1, producer_id=9, producer_epoch=0, base_sequence=4)
    assert again == (4, 5, A_TIMESTAMP, True)
    assert log.next_offset == 7
    with pytest.raises(OutOfOrderSequence):
        append(log, 1, producer_id=9, producer_epoch=0, base_sequence=1)


@pytest.mark.parametrize("clean", [True, False])
def test_sequences_are_remembered_over_a_restart(tmp_path: Path, clean: bool) -> None:
    directory = Directory(tmp_path)
    for sequence in range(3):
        append(directory.log, 1, producer_id=9, producer_epoch=2, base_sequence=sequence)
    log = directory.restart(clean=clean)
    assert append(log, 1, producer_id=9, producer_epoch=2, base_sequence=2).is_duplicate
    with pytest.raises(OutOfOrderSequence):
        append(log, 1, producer_id=9, producer_epoch=2, base_sequence=4)
    with pytest.raises(InvalidProducerEpoch):
        append(log, 1, producer_id=9, producer_epoch=1, base_sequence=0)
    append(log, 1, producer_id=9, producer_epoch=2, base_sequence=3)


def test_an_open_transaction_is_unstable_until_its_marker(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    append(log, 5)
    append(log, 2, producer_id=9, producer_epoch=0, base_sequence=0, transactional=True)
    unstable = [log.first_unstable_offset]
    log.delete_records_before(6)
    unstable.append(log.first_unstable_offset)
    append_marker(log, 9, is_abort=False)
    unstable.append(log.first_unstable_offset)
    assert unstable == [5, 6, None]
    assert log.aborted_transactions(0, 100) == []


@pytest.mark.parametrize("clean", [None, True, False])
def test_aborted_transactions_are_told_to_those_who_read_them(
    tmp_path: Path, clean: bool | None
) -> None:
    directory = Directory(tmp_path, segment_bytes=1000)
    log = directory.log
    transaction = {"producer_epoch": 0, "transactional": True, "size_bytes": 300}
    append(log, producer_id=7, base_sequence=0, **transaction)
    append(log, producer_id=8, base_sequence=0, **transaction)
    append_marker(log, 8, is_abort=True)
    append(log, size_bytes=900)
    append_marker(log, 7, is_abort=True)
    append(log, size_bytes=900)
    if clean is not None:
        log = directory.restart(clean=clean)
    eight, seven = AbortedTxn(8, 1, 2, 0), AbortedTxn(7, 0, 4, 5)
    assert log.aborted_transactions(0, 6) == [seven, eight]
    assert log.aborted_transactions(3, 6) == [seven]
    assert log.aborted_transactions(5, 6) == []
    assert log.aborted_transactions(0, 1) == [seven]


def test_a_segment_is_rolled_by_the_times_of_its_records(tmp_path: Path) -> None:
    log = Directory(tmp_path, segment_ms=1000).log
    append(log, timestamp=A_TIMESTAMP)
    append(log, timestamp=A_TIMESTAMP + 1000)
    append(log, timestamp=A_TIMESTAMP + 1001)
    assert [segment.base_offset for segment in log.segments] == [0, 2]


@pytest.mark.parametrize("clean", [True, False])
def test_the_start_set_by_delete_records_survives_a_restart(tmp_path: Path, clean: bool) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 10)
    assert directory.log.delete_records_before(4) == 4
    assert directory.log.delete_records_before(2) == 4
    directory.store.checkpoint()
    log = directory.restart(clean=clean)
    assert (log.log_start_offset, log.next_offset) == (4, 10)
    with pytest.raises(OffsetOutOfRange):
        log.delete_records_before(11)


def test_a_truncated_log_is_as_if_the_rest_had_never_been(tmp_path: Path) -> None:
    directory = Directory(tmp_path, segment_bytes=1000)
    log = directory.log
    producer = {"producer_id": 9, "producer_epoch": 0, "size_bytes": 300}
    for sequence in range(10):
        append(log, base_sequence=sequence, epoch=sequence // 4, **producer)
    log.flush()
    log.truncate_to(5)
    assert log.leader_epochs.entries == [(0, 0), (1, 4)]
    assert (log.next_offset, log.recovery_point) == (5, 5)
    with pytest.raises(OutOfOrderSequence):
        append(log, base_sequence=6, **producer)
    append(log, base_sequence=5, epoch=3, **producer)
    for restart in (None, True, False):
        if restart is not None:
            log = directory.restart(clean=restart)
        assert offsets(log) == [0, 1, 2, 3, 4, 5]
        assert log.leader_epochs.entries == [(0, 0), (1, 4), (3, 5)]


def test_a_truncation_is_told_to_the_checkpoint_before_it_happens(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    append(directory.log, 1)
    append(directory.log, 9)
    directory.log.flush()
    directory.store.checkpoint()
    directory.log.truncate_to(1)
    assert directory.restart(clean=False).next_offset == 1


def test_a_truncation_below_the_first_segment_starts_over_there(tmp_path: Path) -> None:
    directory = Directory(tmp_path, segment_bytes=1000)
    for _ in range(10):
        append(directory.log, size_bytes=600)
    gone = directory.log.segments[:5]
    directory.log.remove_segments(gone)
    for segment in gone:
        segment.rename(".deleted")
    directory.log.truncate_to(3)
    assert (directory.log.log_start_offset, directory.log.next_offset) == (3, 3)
    assert append(directory.log) == (3, 4, -1, False)


def test_the_answer_names_the_time_of_a_batch_with_log_append_time(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    options = {"timestamp_type": TimestampType.LOG_APPEND_TIME, "timestamp": 1234}
    assert append(log, [a_record(timestamp=1234)], **options).log_append_time_ms == 1234


def test_no_descriptor_is_needed_until_a_log_is_used(tmp_path: Path) -> None:
    log = Directory(tmp_path).log
    assert len(log.files) == 0
    append(log)
    assert len(log.files) == 1
