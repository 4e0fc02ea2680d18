"""What the protocol is made of: variable-length numbers, texts, tagged fields, and the refusal.

The compiled codecs handle lengths below 128 in line; the functions here are their slow lanes, and
what the hand-written headers use. All positions are those of a view that ends with the frame.
"""

from functools import cache
from struct import Struct

Buffer = bytes | bytearray | memoryview

MAX_UVARINT_BYTES = 5
MAX_TEXT_BYTES = 0x7FFF
"""Compact lengths could say more, but Kafka holds texts to what the older int16 can say."""

MAX_TAGGED_FIELDS = 1_000
"""In one struct; the largest number any schema knows is below ten."""

SMALL = tuple(bytes((number,)) for number in range(256))
"""Each byte; those below 128 are the encoding of the numbers that fit in one byte."""

_pack_two = Struct("2B").pack
_pack_three = Struct("3B").pack

SHORT_BYTES = tuple(Struct(f"{length}s").unpack_from for length in range(128))
"""Readers of so many bytes: quicker than slicing a view, and they refuse to run past its end."""

SHORT_ARRAY = 16
"""Arrays of fewer numbers than this, such as a partition's replicas, have layouts made before."""


class MalformedMessage(ValueError):
    """Bytes that are no message: the connection they came from is closed."""


def encode_uvarint(number: int) -> bytes:
    """Seven bits a byte, the lowest first, the eighth bit set on all but the last."""
    if number < 0x80:
        return SMALL[number]
    if number < 0x4000:
        return _pack_two(number & 0x7F | 0x80, number >> 7)
    if number < 0x20_0000:
        return _pack_three(number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14)
    return SMALL[number & 0x7F | 0x80] + encode_uvarint(number >> 7)


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """The number at `position`, and the position after it; `IndexError` past the buffer's end."""
    number = buffer[position]
    if number < 0x80:
        return number, position + 1
    byte = buffer[position + 1]
    if byte < 0x80:
        return number & 0x7F | byte << 7, position + 2
    number = number & 0x7F | (byte & 0x7F) << 7
    for shift in range(14, 7 * MAX_UVARINT_BYTES, 7):
        byte = buffer[position + shift // 7]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position + shift // 7 + 1
    raise MalformedMessage("a number is longer than five bytes")


@cache
def short_layouts(format_: str) -> tuple[Struct, ...]:
    """The layouts of no, one, two and so on numbers of this format."""
    return tuple(Struct(f">{count}{format_}") for count in range(SHORT_ARRAY))


def read_bytes(buffer: memoryview, position: int, length: int) -> bytes:
    """Copy `length` bytes; the caller has made sure that the length is not negative."""
    if length > len(buffer) - position:
        raise MalformedMessage(f"{length} bytes are announced, {len(buffer) - position} are left")
    return buffer[position : position + length].tobytes()


def read_text(buffer: memoryview, position: int, length: int) -> str:
    """Read a text; as in Kafka, what is no UTF-8 becomes U+FFFD rather than an error."""
    if length > MAX_TEXT_BYTES:
        raise MalformedMessage(f"a text of {length} bytes, at most {MAX_TEXT_BYTES} are allowed")
    return read_bytes(buffer, position, length).decode("utf-8", "replace")


def encode_text(text: str) -> bytes:
    """The bytes of a text that is not short; a longer one than can be read is our own mistake."""
    encoded = text.encode()
    if len(encoded) > MAX_TEXT_BYTES:
        raise ValueError(f"a text of {len(encoded)} bytes cannot be sent")
    return encoded


def check_tag_count(count: int, remaining: int) -> None:
    """Refuse more tagged fields than there can be: each takes two bytes at least."""
    if count > MAX_TAGGED_FIELDS or count * 2 > remaining:
        raise MalformedMessage(f"{count} tagged fields in {remaining} bytes")


def skip_tags(buffer: memoryview, position: int) -> int:
    """Pass over tagged fields nobody knows, their count included, keeping nothing of them."""
    count, position = read_uvarint(buffer, position)
    end = len(buffer)
    check_tag_count(count, end - position)
    for _ in range(count):
        _, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        position += size
    if position > end:
        raise MalformedMessage("a tagged field runs past the end of its frame")
    return position
