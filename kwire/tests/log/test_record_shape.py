"""Records told from garbage by their shape alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.batch import HEADER_BYTES
from kwire.codec.records.record import Record
from kwire.errors import InvalidRecord
from kwire.log.record_shape import GUARDED_RECORDS, first_records_hold, shapes
from kwire.tests.builders import a_batch, a_record, some_records

contents = st.one_of(st.none(), st.binary(max_size=200))
headers = st.lists(st.tuples(st.text(max_size=5), contents), max_size=3).map(tuple)
records = st.lists(
    st.tuples(st.integers(-(2**40), 2**40), contents, contents, headers), min_size=1, max_size=90
)


def block_of(chosen: list[Record]) -> memoryview:
    return memoryview(a_batch(chosen))[HEADER_BYTES:]


def hold(block: memoryview | bytes, count: int) -> bool:
    return first_records_hold(block, 0, len(block), count)


@given(records)
def test_whatever_a_builder_writes_is_seen_as_records(
    chosen: list[tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]],
) -> None:
    made = [
        Record(index, 2**41 + time, key, value, headers)
        for index, (time, key, value, headers) in enumerate(chosen)
    ]
    block = block_of(made)
    seen = list(shapes(block, len(made)))
    assert [2**41 + chosen[0][0] + shape.timestamp_delta for shape in seen] == [
        record.timestamp for record in made
    ]
    assert [shape.has_key for shape in seen] == [record.key is not None for record in made]
    assert hold(block, len(made))


@given(st.binary(max_size=60), st.integers(1, GUARDED_RECORDS))
def test_both_readers_agree_about_small_garbage(garbage: bytes, count: int) -> None:
    assert hold(garbage, count) == _is_whole(garbage, count)


@given(st.integers(0, 400), st.integers(0, 255), st.integers(1, GUARDED_RECORDS))
def test_both_readers_agree_about_a_changed_byte(at: int, byte: int, count: int) -> None:
    block = bytearray(block_of(some_records(count, value_bytes=70)))
    block[at % len(block)] = byte
    assert hold(bytes(block), count) == _is_whole(bytes(block), count)


def _is_whole(block: bytes, count: int) -> bool:
    try:
        return len(list(shapes(block, count))) == count
    except InvalidRecord:
        return False


@pytest.mark.parametrize("value_bytes", [0, 63, 64, 8191, 8192, 20_000, 2_000_000])
def test_records_of_every_size_pass(value_bytes: int) -> None:
    assert hold(block_of([a_record(value=b"x" * value_bytes)]), 1)


def test_a_record_number_out_of_turn_is_refused() -> None:
    block = block_of([a_record(0), a_record(2)])
    with pytest.raises(InvalidRecord, match="number 2"):
        list(shapes(block, 2))
    assert not hold(block, 2)


def test_bytes_behind_the_last_record_are_refused() -> None:
    block = bytes(block_of(some_records(2))) + b"\0"
    with pytest.raises(InvalidRecord, match="1 bytes follow"):
        list(shapes(block, 2))
    assert not hold(block, 2)


def test_more_records_than_the_bytes_can_hold_are_refused_unseen() -> None:
    block = block_of(some_records(GUARDED_RECORDS + 1))
    assert hold(block, GUARDED_RECORDS + 1)
    assert not hold(block, 2_000_000_000)


def test_garbage_behind_the_guarded_records_is_only_found_by_the_thorough_reader() -> None:
    block = bytearray(block_of(some_records(GUARDED_RECORDS + 2)))
    block[-5:] = b"\xff" * 5
    assert hold(bytes(block), GUARDED_RECORDS + 2)
    with pytest.raises(InvalidRecord):
        list(shapes(block, GUARDED_RECORDS + 2))


def test_more_headers_than_bytes_are_refused_before_they_are_counted() -> None:
    body = b"\0\0\0\x01\x01" + b"\xfe\xff\xff\xff\x0f"
    with pytest.raises(InvalidRecord, match="headers"):
        list(shapes(bytes([len(body) << 1]) + body, 1))
