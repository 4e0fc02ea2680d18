"""How generated encoders write: what is joined, what stays as it is, what is left out."""

from typing import Any

import pytest

from kwire.codec.compile import decoder, encoder
from kwire.codec.schema import (
    array,
    boolean,
    int8,
    int16,
    int32,
    message,
    records,
    string,
    struct,
    uuid,
)
from kwire.codec.write_source import COPY_BELOW_BYTES


@message
class Point:
    x: int = int8()
    y: int = int8(since=1)


@message
class Batches:
    before: int = int8()
    data: Any = records(nullable=True)
    after: int = int8()


@message
class Tagged:
    first: int = int8()
    # Declared against the order of their tags, as Kafka's definitions may be.
    last: int = int32(tag=300, default=7)
    name: str | None = string(tag=0, nullable=True, default=None)
    point: Point = struct(Point, tag=1)
    numbers: list[int] = array(int8(), tag=2)
    id: bytes = uuid(tag=3)
    flag: bool = boolean(tag=4)


@message
class Lists:
    numbers: list[int] = array(int16())
    words: list[str | None] | None = array(string(nullable=True), nullable=True)
    points: list[Point] = array(struct(Point))


@message
class Maybe:
    point: Point | None = struct(Point, nullable=True, default=None)


def _write(value: Any, *, version: int = 0, flexible: bool = True) -> bytes:
    return b"".join(encoder(type(value), version, flexible)(value))


@pytest.mark.parametrize("flexible", [False, True])
@pytest.mark.parametrize("size", [COPY_BELOW_BYTES, COPY_BELOW_BYTES + 1])
def test_records_follow_as_the_very_buffer_that_was_given(size: int, flexible: bool) -> None:
    data = memoryview(bytes(size))
    buffers = encoder(Batches, 0, flexible)(Batches(data=data))
    assert len(buffers) == 3
    assert buffers[1] is data


@pytest.mark.parametrize("data", [None, b"", b"short", b"x" * (COPY_BELOW_BYTES - 1)])
@pytest.mark.parametrize("flexible", [False, True])
def test_short_records_are_joined_with_what_is_around_them(
    data: bytes | None, flexible: bool
) -> None:
    buffers = encoder(Batches, 0, flexible)(Batches(before=1, data=data, after=2))
    assert len(buffers) == 1
    found, _ = decoder(Batches, 0, flexible)(memoryview(buffers[0]), 0)
    assert (found.before, found.after) == (1, 2)
    assert (found.data if data is None else bytes(found.data)) == data


def test_short_records_that_are_not_in_memory_follow_as_they_are() -> None:
    class Slice:
        def __len__(self) -> int:
            return 5

    data: Any = Slice()
    buffers = encoder(Batches, 0, True)(Batches(data=data))
    assert buffers[1] is data


class Slice:
    """Records that are still in a file: all that is known of them is their length."""

    def __len__(self) -> int:
        return 300


@pytest.mark.parametrize(("flexible", "length"), [(False, "0000012c"), (True, "ad02")])
def test_short_records_that_are_not_in_memory_are_left_alone(flexible: bool, length: str) -> None:
    on_disk: Any = Slice()
    before, data, after = encoder(Batches, 0, flexible)(Batches(before=1, data=on_disk, after=2))
    assert before == b"\x01" + bytes.fromhex(length)
    assert data is on_disk
    assert after == (b"\x02\x00" if flexible else b"\x02")


def test_only_fields_of_the_version_are_written() -> None:
    assert _write(Point(x=1, y=2), flexible=False) == b"\x01"
    assert _write(Point(x=1, y=2), version=1, flexible=False) == b"\x01\x02"


def test_tagged_fields_at_their_defaults_are_left_out() -> None:
    assert _write(Tagged(first=1)) == b"\x01\x00"
    assert _write(Tagged(first=1, point=Point(), numbers=[], last=7)) == b"\x01\x00"


def test_tagged_fields_are_written_in_the_order_of_their_tags() -> None:
    full = Tagged(
        first=1, last=8, name="n", point=Point(x=5), numbers=[1, 2], id=b"i" * 16, flag=True
    )
    assert _write(full) == (
        b"\x01\x06"
        b"\x00\x02\x02n"
        b"\x01\x02\x05\x00"
        b"\x02\x03\x03\x01\x02"
        b"\x03\x10" + b"i" * 16 + b"\x04\x01\x01"
        b"\xac\x02\x04\x00\x00\x00\x08"
    )


def test_a_null_is_zero_when_lengths_are_compact_and_minus_one_otherwise() -> None:
    assert _write(Lists(words=None)) == b"\x01\x00\x01\x00"
    assert _write(Lists(words=None), flexible=False) == b"\0\0\0\0" + b"\xff" * 4 + b"\0\0\0\0"
    assert _write(Lists(words=[None, ""])) == b"\x01\x03\x00\x01\x01\x00"


@pytest.mark.parametrize("count", [0, 1, 15, 16, 126, 127, 128, 400])
@pytest.mark.parametrize("flexible", [False, True])
def test_arrays_of_every_length_are_read_back(count: int, flexible: bool) -> None:
    lists = Lists(
        numbers=list(range(count)),
        words=["w" * index for index in range(count)],
        points=[Point(x=index % 100) for index in range(count)],
    )
    written = memoryview(_write(lists, flexible=flexible))
    assert decoder(Lists, 0, flexible)(written, 0) == (lists, len(written))


def test_a_nullable_struct_is_announced() -> None:
    assert _write(Maybe()) == b"\xff\x00"
    assert _write(Maybe(point=Point(x=5))) == b"\x01\x05\x00\x00"


@pytest.mark.parametrize("flexible", [False, True])
def test_a_text_that_no_client_could_read_is_our_own_mistake(flexible: bool) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        _write(Lists(words=["x" * 40_000]), flexible=flexible)


def test_a_null_that_may_not_be_is_our_own_mistake() -> None:
    numbers: Any = None
    with pytest.raises(TypeError):
        _write(Lists(numbers=numbers))
