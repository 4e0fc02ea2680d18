"""How generated decoders read nulls, lengths, tagged fields and counts."""

import struct as layout
from typing import Any

import pytest

from kwire.codec.compile import decoder
from kwire.codec.primitives import MalformedMessage, encode_uvarint
from kwire.codec.schema import (
    array,
    boolean,
    bytes_,
    default_struct,
    int8,
    int16,
    int32,
    int64,
    message,
    records,
    string,
    struct,
    uuid,
)


@message
class Point:
    x: int = int32()
    y: int = int32(since=1, default=-1)


@message
class Everything:
    flag: bool = boolean()
    small: int = int8()
    number: int = int64()
    id: bytes = uuid()


@message
class Texts:
    name: str = string()
    note: str | None = string(nullable_since=1)


@message
class Blobs:
    data: bytes = bytes_()
    batches: memoryview | None = records(nullable=True)


@message
class Many:
    numbers: list[int] = array(int16())
    words: list[str] | None = array(string(), nullable=True)
    points: list[Point] = array(struct(Point))


@message
class Maybe:
    point: Point | None = struct(Point, nullable=True, default=None)
    after: int = int8()


@message
class Tagged:
    first: int = int8()
    name: str | None = string(tag=0, nullable=True, default=None)
    point: Point = struct(Point, tag=1)
    numbers: list[int] = array(int8(), tag=2)
    big: int = int32(tag=300, default=7)


@message
class Mixed:
    late: int = int16(tag=0, tagged_since=1, default=5)


def _read(cls: type[Any], written: bytes, *, version: int = 0, flexible: bool = True) -> Any:
    found, end = decoder(cls, version, flexible)(memoryview(written), 0)
    assert end == len(written)
    return found


def _refused(cls: type[Any], written: bytes, *, version: int = 0, flexible: bool = True) -> str:
    with pytest.raises(MalformedMessage) as refusal:
        decoder(cls, version, flexible)(memoryview(written), 0)
    return str(refusal.value)


def test_fields_of_fixed_size_are_read_in_their_order() -> None:
    written = layout.pack(">?bq16s", True, -3, -(2**60), bytes(range(16)))
    expected = Everything(flag=True, small=-3, number=-(2**60), id=bytes(range(16)))
    assert _read(Everything, written, flexible=False) == expected


def test_any_byte_but_zero_is_true() -> None:
    assert _read(Everything, b"\x7f" + bytes(25), flexible=False).flag is True
    assert _read(Everything, bytes(26), flexible=False).flag is False


def test_a_field_of_a_later_version_has_its_default() -> None:
    assert _read(Point, bytes(4), flexible=False) == Point(x=0, y=-1)
    assert _read(Point, bytes(8), version=1, flexible=False) == Point(x=0, y=0)


@pytest.mark.parametrize(
    ("written", "text"), [("0000", None), ("0001", ""), ("000261", "a"), ("0003c3bc", "ü")]
)
def test_compact_lengths_count_from_one_and_zero_is_null(written: str, text: str | None) -> None:
    name, note = "01", written[2:]
    found = _read(Texts, bytes.fromhex(name + note + "00"), version=1)
    assert (found.name, found.note) == ("", text)


def test_before_flexible_versions_a_null_is_minus_one() -> None:
    written = layout.pack(">hh", 0, -1)
    assert _read(Texts, written, version=1, flexible=False).note is None


@pytest.mark.parametrize(
    ("cls", "written", "flexible"),
    [
        (Texts, b"\x00\x01\x00", True),
        (Texts, b"\xff\xff\x00\x00", False),
        (Texts, b"\x01\x00\x00", True),
        (Blobs, b"\x00\x01\x00", True),
        (Blobs, b"\xff\xff\xff\xff" + bytes(4), False),
        (Many, b"\x00\x01\x01\x00", True),
        (Many, b"\xff\xff\xff\xff" + bytes(8), False),
    ],
)
def test_a_null_where_there_may_be_none_is_refused(
    cls: type[Any], written: bytes, flexible: bool
) -> None:
    assert "is null" in _refused(cls, written, flexible=flexible)


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 128, 129, 16_382, 16_383, 32_767])
def test_texts_and_bytes_of_every_length_are_read(length: int) -> None:
    size = encode_uvarint(length + 1)
    assert _read(Texts, size + b"n" * length + b"\x01\x00").name == "n" * length
    written = size + b"d" * length + size + b"r" * length + b"\x00"
    found = _read(Blobs, written)
    assert (found.data, bytes(found.batches)) == (b"d" * length, b"r" * length)


def test_records_are_a_view_into_the_frame_and_bytes_a_copy() -> None:
    frame = memoryview(bytearray(b"\x03ab\x03cd\x00"))
    found, _ = decoder(Blobs, 0, True)(frame, 0)
    assert isinstance(found.data, bytes)
    frame[5] = ord("X")
    assert bytes(found.batches) == b"cX"


@pytest.mark.parametrize("length", [4, 126, 127, 5000, 2**31 - 1])
def test_lengths_beyond_the_frame_are_refused(length: int) -> None:
    size = encode_uvarint(length + 1)
    _refused(Texts, size + b"abc")
    _refused(Blobs, size + b"abc")
    _refused(Blobs, b"\x01" + size + b"abc")


@pytest.mark.parametrize("length", [4, 127, 2**31 - 1])
def test_records_at_the_very_end_must_be_whole(length: int) -> None:
    written = layout.pack(">ii", 0, length) + b"abc"
    assert "cut records" in _refused(Blobs, written, flexible=False)


def test_arrays_of_numbers_texts_and_structs_are_read() -> None:
    numbers = b"\x03" + layout.pack(">2h", 1, -2)
    points = b"\x02" + layout.pack(">ib", 9, 0)
    found = _read(Many, numbers + b"\x03\x02a\x01" + points + b"\x00")
    assert found == Many(numbers=[1, -2], words=["a", ""], points=[Point(x=9)])


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 126, 127, 400])
def test_arrays_of_every_length_are_read(count: int) -> None:
    numbers = list(range(count))
    written = encode_uvarint(count + 1) + layout.pack(f">{count}h", *numbers) + b"\x00\x01\x00"
    assert _read(Many, written) == Many(numbers=numbers, words=None)


@pytest.mark.parametrize("count", [3, 127, 2**20, 2**31 - 1, 2**32 - 2])
def test_a_count_of_more_elements_than_bytes_is_refused(count: int) -> None:
    written = encode_uvarint(count + 1) + bytes(5)
    assert "too many numbers" in _refused(Many, written)
    assert "too many points" in _refused(Many, b"\x01\x00" + written)


@pytest.mark.parametrize("count", [-2, -(2**31)])
def test_a_negative_count_is_a_null(count: int) -> None:
    written = layout.pack(">iii", 0, count, 0)
    assert _read(Many, written, flexible=False).words is None
    assert "is null" in _refused(Many, layout.pack(">i", count) + bytes(8), flexible=False)


def test_a_nullable_struct_has_a_byte_before_it() -> None:
    assert _read(Maybe, b"\xff\x05\x00") == Maybe(point=None, after=5)
    written = b"\x01" + layout.pack(">i", 9) + b"\x00" + b"\x05\x00"
    assert _read(Maybe, written) == Maybe(point=Point(x=9), after=5)


def test_tagged_fields_come_in_any_order_and_unknown_ones_between() -> None:
    numbers = b"\x02\x04" + b"\x04\x01\x02\x03"
    unknown = b"\x63\x02" + b"??"
    big = b"\xac\x02\x04" + b"\x00\x00\x00\x08"
    point = b"\x01\x05" + b"\x00\x00\x00\x09\x00"
    name = b"\x00\x03" + b"\x03ab"
    found = _read(Tagged, b"\x04\x05" + numbers + unknown + big + point + name)
    assert found == Tagged(first=4, name="ab", point=Point(x=9), numbers=[1, 2, 3], big=8)


def test_absent_tagged_fields_have_their_defaults() -> None:
    found = _read(Tagged, b"\x04\x00")
    assert found == Tagged(first=4)
    assert found.point is default_struct(Point)


def test_nothing_of_an_unknown_tagged_field_is_kept() -> None:
    found = _read(Tagged, b"\x04\x01\x63\x02??")
    assert found == Tagged(first=4)
    assert not hasattr(found, "__dict__")


@pytest.mark.parametrize("size", [0, 4, 6])
def test_a_tagged_field_must_have_the_size_it_says(size: int) -> None:
    written = b"\x04\x01\x01" + bytes([size]) + b"\x00\x00\x00\x09\x00" + b"?"
    assert "another size" in _refused(Tagged, written)


def test_a_tagged_field_may_not_reach_beyond_the_frame() -> None:
    assert "is cut" in _refused(Tagged, b"\x04\x01\x63\x03??")
    assert "is cut" in _refused(Tagged, b"\x04\x01\x63\xff\xff\xff\xff\x0f")


@pytest.mark.parametrize("cls", [Tagged, Everything])
def test_a_flood_of_tagged_fields_is_refused(cls: type[Any]) -> None:
    head = b"\x04" if cls is Tagged else bytes(26)
    flood = encode_uvarint(1001) + b"\x63\x00" * 1001
    assert "tagged fields" in _refused(cls, head + flood)
    allowed = encode_uvarint(1000) + b"\x63\x00" * 1000
    _read(cls, head + allowed)


def test_more_tagged_fields_than_bytes_are_refused() -> None:
    assert "tagged fields" in _refused(Tagged, b"\x04\x7f")
    assert "tagged fields" in _refused(Everything, bytes(26) + b"\x7f")


def test_a_field_that_became_tagged_is_read_in_both_forms() -> None:
    assert _read(Mixed, b"\x00\x09\x00", version=0) == Mixed(late=9)
    assert _read(Mixed, b"\x01\x00\x02\x00\x09", version=1) == Mixed(late=9)
    assert _read(Mixed, b"\x00", version=1) == Mixed(late=5)


@pytest.mark.parametrize(
    ("cls", "written"),
    [
        (Everything, bytes(26)),
        (Texts, b"\x03ab\x02c\x00"),
        (Blobs, b"\x03ab\x02c\x00"),
        (Maybe, b"\x01\x00\x00\x00\x09\x00\x05\x00"),
        (Tagged, b"\x04\x01\x01\x05\x00\x00\x00\x09\x00"),
    ],
)
def test_a_message_that_ends_too_early_is_refused(cls: type[Any], written: bytes) -> None:
    for end in range(len(written)):
        _refused(cls, written[:end])
