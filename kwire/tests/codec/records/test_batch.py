"""A batch header is read, stamped and checked where it lies."""

import pytest

from kwire.codec.records.batch import (
    DELETE_HORIZON,
    HEADER_BYTES,
    TRANSACTIONAL,
    BatchHeader,
    crc_holds,
    each_batch,
    parse_header,
    rewrite_crc,
    stamp,
    stamp_log_append_time,
    write_header,
)
from kwire.errors import CorruptMessage

HEADER = BatchHeader(
    base_offset=7,
    batch_length=49 + 5,
    partition_leader_epoch=3,
    magic=2,
    crc=0,
    attributes=0,
    last_offset_delta=2,
    base_timestamp=1000,
    max_timestamp=2000,
    producer_id=-1,
    producer_epoch=-1,
    base_sequence=-1,
    records_count=3,
)


def _a_batch(header: BatchHeader = HEADER, *, before: bytes = b"", after: bytes = b"") -> bytearray:
    buffer = bytearray(before) + bytes(HEADER_BYTES) + b"12345"
    write_header(buffer, header, len(before))
    rewrite_crc(buffer, len(before))
    return buffer + after


def test_what_is_written_is_read_back_at_any_position() -> None:
    buffer = _a_batch(before=b"xyz")
    header = parse_header(memoryview(buffer), 3)
    assert header._replace(crc=0) == HEADER
    assert (header.size_bytes, header.last_offset, header.next_offset) == (66, 9, 10)


def test_the_attributes_are_told_apart() -> None:
    plain = HEADER
    assert (plain.codec, plain.is_log_append_time, plain.is_transactional) == (0, False, False)
    assert (plain.is_control, plain.has_delete_horizon, plain.delete_horizon_ms) == (
        False,
        False,
        None,
    )
    full = HEADER._replace(attributes=4 | 8 | TRANSACTIONAL | 32 | DELETE_HORIZON)
    assert (full.codec, full.is_log_append_time, full.is_transactional) == (4, True, True)
    assert (full.is_control, full.has_delete_horizon, full.delete_horizon_ms) == (True, True, 1000)


def test_sequence_numbers_wrap_to_zero() -> None:
    assert HEADER.last_sequence == -1
    assert HEADER._replace(base_sequence=5).last_sequence == 7
    assert HEADER._replace(base_sequence=2**31 - 1).last_sequence == 1


@pytest.mark.parametrize("size", [0, 1, 12, 60])
def test_a_header_cut_short_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptMessage):
        parse_header(_a_batch()[:size])


def test_stamping_moves_the_batch_and_leaves_the_checksum_true() -> None:
    buffer = _a_batch(before=b"ab", after=b"cd")
    stamp(memoryview(buffer), 2, 2**40, 9)
    header = parse_header(buffer, 2)
    assert (header.base_offset, header.partition_leader_epoch) == (2**40, 9)
    assert header.batch_length == HEADER.batch_length
    assert crc_holds(buffer, header, 2)
    assert buffer[:2] + buffer[-2:] == b"abcd"


@pytest.mark.parametrize("position", range(17, 66))
def test_a_changed_byte_breaks_the_checksum(position: int) -> None:
    buffer = _a_batch()
    buffer[position] ^= 1
    assert not crc_holds(buffer, parse_header(buffer))


def test_a_checksum_over_fewer_bytes_than_the_length_says_does_not_hold() -> None:
    buffer = _a_batch()
    header = parse_header(buffer)
    assert crc_holds(buffer, header)
    assert not crc_holds(buffer, header._replace(batch_length=header.batch_length + 1))
    assert not crc_holds(buffer, header._replace(batch_length=-1))
    assert not crc_holds(buffer[:-1], header)


def test_log_append_time_is_told_by_the_header_alone() -> None:
    buffer = _a_batch(HEADER._replace(attributes=4 | TRANSACTIONAL), before=b"ab")
    header = stamp_log_append_time(memoryview(buffer), 5555, 2)
    assert header == parse_header(buffer, 2)
    assert header.is_log_append_time
    assert (header.codec, header.is_transactional) == (4, True)
    assert (header.base_timestamp, header.max_timestamp) == (1000, 5555)
    assert crc_holds(buffer, header, 2)


def test_batches_are_found_one_after_the_other() -> None:
    one, two = _a_batch(), _a_batch(HEADER._replace(base_offset=10))
    found = list(each_batch(one + two))
    assert [(position, header.base_offset) for position, header in found] == [(0, 7), (66, 10)]


@pytest.mark.parametrize("kept", [0, 1, 12, 60, 61, 65])
def test_a_batch_cut_off_at_the_end_is_left_out(kept: int) -> None:
    assert [position for position, _ in each_batch(_a_batch() + _a_batch()[:kept])] == [0]


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48])
def test_an_impossible_length_is_corrupt_and_not_an_endless_loop(length: int) -> None:
    buffer = _a_batch()
    write_header(buffer, HEADER._replace(batch_length=length))
    with pytest.raises(CorruptMessage):
        list(each_batch(buffer))
