"""Zigzag varints: short, reversible, and refused when they do not end in time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.varint import MAX_VARLONG_BYTES, encode_varint, read_varint
from kwire.errors import InvalidRecord


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_long_is_read_back(value: int) -> None:
    encoded = encode_varint(value)
    assert len(encoded) <= MAX_VARLONG_BYTES
    assert read_varint(b"x" + encoded + b"y", 1, MAX_VARLONG_BYTES) == (value, len(encoded) + 1)


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_int_takes_at_most_five_bytes(value: int) -> None:
    encoded = encode_varint(value)
    assert read_varint(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (64, "8001"), (-65, "8101")],
)
def test_small_numbers_have_the_bytes_the_format_says(value: int, encoded: str) -> None:
    assert encode_varint(value).hex() == encoded


@pytest.mark.parametrize("encoded", ["8080808080", "ffffffff1f", "808080808000"])
def test_more_than_32_bits_are_refused(encoded: str) -> None:
    with pytest.raises(InvalidRecord):
        read_varint(bytes.fromhex(encoded), 0)


@pytest.mark.parametrize("encoded", ["80" * 10 + "00", "ff" * 9 + "02"])
def test_more_than_64_bits_are_refused(encoded: str) -> None:
    with pytest.raises(InvalidRecord):
        read_varint(bytes.fromhex(encoded), 0, MAX_VARLONG_BYTES)
