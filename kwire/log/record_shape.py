"""The shape of records, without their contents: lengths that add up, keys that are there, times.

A producer's batch may have a true checksum around a body that is no list of records. Two readers
look at the body, and neither copies a key or a value:

- `first_records_hold` looks at the first few records of an uncompressed batch. It is part of the
  data path and costs about half a microsecond a record, so it stops after `GUARDED_RECORDS`.
- `shapes` looks at all of them and says which one is wrong. It runs where the topic asks a question
  that only the records can answer, and where a batch is refused and the client wants to know why.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.crc import Buffer
from kwire.codec.records.varint import MAX_VARLONG_BYTES, read_varint
from kwire.errors import InvalidRecord

GUARDED_RECORDS = 4
SMALLEST_RECORD_BYTES = 7
"""Length, attributes, two deltas, an absent key, an absent value and no headers: a byte each."""

_new_tuple = tuple.__new__


class RecordShape(NamedTuple):
    timestamp_delta: int
    has_key: bool
    end: int
    """Where the record ends in the block."""


def first_records_hold(buffer: Buffer, position: int, end: int, count: int) -> bool:
    """Whether the first records of the block are records, and the others could be."""
    if end - position < count * SMALLEST_RECORD_BYTES:
        return False
    try:
        for index in range(count if count < GUARDED_RECORDS else GUARDED_RECORDS):
            stop = _plain_end(buffer, position, index)
            if not 0 < stop <= end:
                stop = _shape(buffer, position, end, index).end
            position = stop
    except (IndexError, InvalidRecord):
        return False
    return position == end or (position < end and count > GUARDED_RECORDS)


def shapes(block: Buffer, count: int, position: int = 0) -> Iterator[RecordShape]:
    """Every record of a whole, uncompressed block; InvalidRecord as soon as one is none."""
    end = len(block)
    for index in range(count):
        try:
            shape = _shape(block, position, end, index)
        except IndexError:
            raise InvalidRecord(f"record {index} reaches past the end of its batch") from None
        position = shape[2]
        yield shape
    if position != end:
        raise InvalidRecord(f"{end - position} bytes follow the last of {count} records")


def _plain_end(buffer: Buffer, position: int, index: int) -> int:
    """Where the plainest of records ends, with short numbers and no headers; 0 for any other."""
    try:
        size = buffer[position]
        position += 4
        if size >= 0x80:
            size = size & 0x7F | buffer[position - 3] << 7
            position += 1
        key = buffer[position]
        at = position + 1 if key == 1 else position + 1 + (key >> 1)
        value = buffer[at]
        at += 1
        if value >= 0x80:
            value = value & 0x7F | buffer[at] << 7
            at += 1
        at += value >> 1
        if (
            at - position + 4 == size >> 1
            and buffer[at] == 0
            and buffer[position - 1] == index << 1
            and buffer[position - 2] < 0x80
            # Odd is negative, and a second byte that is not the last leaves a high bit.
            and not (size | value) & 0x4001
            and (key == 1 or not key & 0x81)
        ):
            return at + 1
    except IndexError:
        pass
    return 0


def _shape(buffer: Buffer, start: int, end: int, index: int) -> RecordShape:
    """Read numbers of one and two bytes in place; longer ones and headers take the long way."""
    try:
        size = buffer[start]
        position = start + 1
        if size >= 0x80:
            size = size & 0x7F | buffer[position] << 7
            position += 1
        stop = position + (size >> 1)
        times = buffer[position + 1]
        delta = buffer[position + 2]
        position += 3
        if times >= 0x80:
            times = times & 0x7F | delta << 7
            delta = buffer[position]
            position += 1
        if delta >= 0x80:
            delta = delta & 0x7F | buffer[position] << 7
            position += 1
        key = buffer[position]
        position += 1
        if key >= 0x80:
            key = key & 0x7F | buffer[position] << 7
            position += 1
        if key != 1:
            position += key >> 1
        value = buffer[position]
        position += 1
        if value >= 0x80:
            value = value & 0x7F | buffer[position] << 7
            position += 1
        if value != 1:
            position += value >> 1
        if (
            position + 1 == stop <= end
            and buffer[position] == 0
            and delta == index << 1
            # A second byte that is not the last leaves a number above this.
            and (size | times | key | value) < 0x4000
            and not size & 1
            and (key == 1 or not key & 1)
            and (value == 1 or not value & 1)
        ):
            return _new_tuple(RecordShape, ((times >> 1) ^ -(times & 1), key != 1, stop))
    except IndexError:
        pass
    return _any_shape(buffer, start, end, index)


def _any_shape(block: Buffer, position: int, end: int, index: int) -> RecordShape:
    size, position = read_varint(block, position)
    stop = position + size
    if size < SMALLEST_RECORD_BYTES - 1 or stop > end:
        raise InvalidRecord(f"record {index} says it is {size} bytes long")
    timestamp_delta, position = read_varint(block, position + 1, MAX_VARLONG_BYTES)
    offset_delta, position = read_varint(block, position)
    if offset_delta != index:
        raise InvalidRecord(f"record {index} says it is number {offset_delta} of its batch")
    key_bytes, position = _skip_bytes(block, position, index, "key")
    _, position = _skip_bytes(block, position, index, "value")
    position = _skip_headers(block, position, stop, index)
    if position != stop:
        raise InvalidRecord(f"record {index} says it is {size} bytes long, but is not")
    return RecordShape(timestamp_delta, key_bytes >= 0, stop)


def _skip_headers(block: Buffer, position: int, stop: int, index: int) -> int:
    count, position = read_varint(block, position)
    if not 0 <= count <= (stop - position) // 2:
        raise InvalidRecord(f"record {index} says it has {count} headers")
    for _ in range(count):
        name_bytes, position = _skip_bytes(block, position, index, "header name")
        if name_bytes < 0:
            raise InvalidRecord(f"record {index} has a header without a name")
        _, position = _skip_bytes(block, position, index, "header value")
    return position


def _skip_bytes(block: Buffer, position: int, index: int, what: str) -> tuple[int, int]:
    size, position = read_varint(block, position)
    if size < -1:
        raise InvalidRecord(f"record {index} has a {what} of {size} bytes")
    return size, position + (size if size > 0 else 0)
