"""Numbers, texts and tagged fields: what they look like, and what is refused of them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kwire.codec.primitives import (
    MAX_TAGGED_FIELDS,
    MAX_TEXT_BYTES,
    MalformedMessage,
    encode_text,
    encode_uvarint,
    read_bytes,
    read_text,
    read_uvarint,
    short_layouts,
    skip_tags,
)


@settings(derandomize=True, database=None)
@given(st.integers(0, 2**35 - 1))
@example(2**7 - 1)
@example(2**7)
@example(2**14 - 1)
@example(2**14)
@example(2**21 - 1)
@example(2**21)
@example(2**28)
@example(2**32 - 1)
def test_every_number_is_read_back_from_the_fewest_bytes(number: int) -> None:
    encoded = encode_uvarint(number)
    assert len(encoded) == max(1, -(-number.bit_length() // 7))
    assert read_uvarint(b"x" + encoded + b"y", 1) == (number, 1 + len(encoded))


@pytest.mark.parametrize(
    ("number", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")],
)
def test_numbers_have_the_bytes_that_the_protocol_says(number: int, encoded: str) -> None:
    assert encode_uvarint(number).hex() == encoded


def test_a_number_may_be_longer_than_it_needs_to_be() -> None:
    assert read_uvarint(b"\x81\x80\x00", 0) == (1, 3)


@pytest.mark.parametrize("encoded", ["808080808000", "ffffffffff", "8080808080"])
def test_a_number_of_more_than_five_bytes_is_refused(encoded: str) -> None:
    with pytest.raises(MalformedMessage, match="five bytes"):
        read_uvarint(bytes.fromhex(encoded), 0)


@pytest.mark.parametrize("encoded", ["", "80", "8080", "80808080"])
def test_a_number_that_is_cut_is_an_index_error(encoded: str) -> None:
    with pytest.raises(IndexError):
        read_uvarint(bytes.fromhex(encoded), 0)


def test_bytes_may_reach_to_the_end_and_not_beyond() -> None:
    frame = memoryview(b"12345")
    assert read_bytes(frame, 2, 3) == b"345"
    with pytest.raises(MalformedMessage, match="4 bytes are announced, 3 are left"):
        read_bytes(frame, 2, 4)


def test_a_text_that_is_no_utf_8_is_read_with_replacements() -> None:
    assert read_text(memoryview(b"a\xff\xc3b"), 0, 4) == "a\ufffd\ufffdb"


def test_the_longest_text_is_what_an_int16_can_say() -> None:
    frame = memoryview(b"x" * (MAX_TEXT_BYTES + 1))
    assert len(read_text(frame, 0, MAX_TEXT_BYTES)) == MAX_TEXT_BYTES
    with pytest.raises(MalformedMessage, match="at most 32767"):
        read_text(frame, 0, MAX_TEXT_BYTES + 1)


def test_a_text_that_nobody_could_read_is_not_sent() -> None:
    assert encode_text("ü" * 16_383) == b"\xc3\xbc" * 16_383
    with pytest.raises(ValueError, match="32768 bytes"):
        encode_text("ü" * 16_384)


@pytest.mark.parametrize(("format_", "size"), [("b", 1), ("h", 2), ("i", 4), ("q", 8)])
def test_layouts_of_short_arrays_hold_as_many_numbers_as_their_place_says(
    format_: str, size: int
) -> None:
    for count, layout in enumerate(short_layouts(format_)):
        assert layout.size == count * size
        assert layout.pack(*[1] * count) == (bytes(size - 1) + b"\x01") * count


def test_tagged_fields_are_passed_over_by_their_size() -> None:
    two = b"\x02" + b"\x00\x03abc" + b"\x81\x01\x00"
    assert skip_tags(memoryview(two + b"rest"), 0) == len(two)
    assert skip_tags(memoryview(b"\x00rest"), 0) == 1


def test_the_last_tagged_field_must_end_within_the_frame() -> None:
    assert skip_tags(memoryview(b"\x01\x00\x02ab"), 0) == 5
    with pytest.raises(MalformedMessage, match="past the end"):
        skip_tags(memoryview(b"\x01\x00\x03ab"), 0)


def test_a_size_cannot_lead_out_of_the_frame_and_on() -> None:
    with pytest.raises((MalformedMessage, IndexError)):
        skip_tags(memoryview(b"\x02\x00\xff\xff\xff\xff\x0f\x00\x00"), 0)


def test_more_tagged_fields_than_any_schema_could_have_are_refused() -> None:
    most = encode_uvarint(MAX_TAGGED_FIELDS) + b"\x07\x00" * MAX_TAGGED_FIELDS
    assert skip_tags(memoryview(most), 0) == len(most)
    flood = encode_uvarint(MAX_TAGGED_FIELDS + 1) + b"\x07\x00" * (MAX_TAGGED_FIELDS + 1)
    with pytest.raises(MalformedMessage, match="1001 tagged fields"):
        skip_tags(memoryview(flood), 0)


def test_more_tagged_fields_than_bytes_are_refused_before_any_is_read() -> None:
    with pytest.raises(MalformedMessage, match="3 tagged fields in 5 bytes"):
        skip_tags(memoryview(b"\x03" + b"\x00\x00" * 2 + b"\x00"), 0)
