"""Zigzag varints, in which a record tells its lengths and deltas.

Seven bits a byte, the lowest first; zigzag folds the sign into the lowest bit, so that small
negative numbers stay short. (The protocol's own varints are unsigned and live with it.)
"""

from kwire.codec.records.crc import Buffer
from kwire.errors import InvalidRecord

MAX_VARINT_BYTES = 5
MAX_VARLONG_BYTES = 10

_ONE_BYTE = [bytes([number]) for number in range(128)]


def encode_varint(value: int) -> bytes:
    """The bytes of any number that fits in 64 bits; 32-bit fields are written the same way."""
    left = (value << 1) ^ (value >> 63)
    if left < 0x80:
        return _ONE_BYTE[left]
    encoded = bytearray()
    while left >= 0x80:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    encoded.append(left)
    return bytes(encoded)


def read_varint(
    buffer: Buffer, position: int, max_bytes: int = MAX_VARINT_BYTES
) -> tuple[int, int]:
    """The number at `position`, and the position after it; `IndexError` at the buffer's end."""
    first = buffer[position]
    if first < 0x80:
        return (first >> 1) ^ -(first & 1), position + 1
    folded = shift = 0
    for index in range(position, position + max_bytes):
        byte = buffer[index]
        folded |= (byte & 0x7F) << shift
        if byte < 0x80:
            if folded >> (32 if max_bytes == MAX_VARINT_BYTES else 64):
                break
            return (folded >> 1) ^ -(folded & 1), index + 1
        shift += 7
    raise InvalidRecord("a record has a number that is too long")
