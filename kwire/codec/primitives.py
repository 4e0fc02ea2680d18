"""What the protocol is made of: variable-length numbers, and the refusal of what cannot be read.

The compiled codecs read and write one-byte lengths in line; the functions here are their slow
lanes, and what the hand-written headers use.
"""

Buffer = bytes | bytearray | memoryview

MAX_TAGS = 1_000
"""More unknown tagged fields than this in one place is an attack, not a newer client."""


class MalformedMessage(ValueError):
    """Bytes that are no message: the connection they came from is closed."""


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """An unsigned number of at most five bytes, and the position after it."""
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise MalformedMessage("a variable-length number is longer than five bytes")
    if value > 0xFFFFFFFF:
        raise MalformedMessage("a variable-length number does not fit into 32 bits")
    return value, position


def write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip_tags(buffer: Buffer, position: int, count: int) -> int:
    """Pass over tagged fields that nobody here knows; nothing of them is kept."""
    if count > MAX_TAGS:
        raise MalformedMessage(f"{count} tagged fields")
    end = len(buffer)
    for _ in range(count):
        _, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        position += size
        if position > end:
            raise MalformedMessage("a tagged field reaches beyond the message")
    return position
