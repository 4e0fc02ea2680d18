"""Records: what a batch holds, opened one by one and distrusted throughout.

A record is: length varint, attributes i8, timestamp delta varlong, offset delta varint, key and
value (length varint, -1 for null, and bytes), header count varint, then keys and values of headers.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.batch import HEADER_BYTES, BatchHeader
from kwire.codec.records.crc import Buffer
from kwire.codec.records.varint import MAX_VARLONG_BYTES, read_varint
from kwire.errors import InvalidRecord

MAX_UNPACKED_BYTES = 128 * 1024 * 1024
"""No batch may unfold into more than this; bombs end here.

A producer's compressed batch is stored unopened unless its topic asks about records, so whoever
opens it later, for a look-up by time say, must be as careful as if it came from the socket.
"""


class Record(NamedTuple):
    """One record with its absolute offset and timestamp."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def each_record(
    batch: Buffer, header: BatchHeader, *, limit: int = MAX_UNPACKED_BYTES
) -> Iterator[Record]:
    """The records of one batch, with absolute offsets and the timestamps a reader is told."""
    block = unpacked(batch, header, limit=limit)
    position = 0
    for _ in range(header.records_count):
        record, position = _read(block, position, header)
        yield record
    if position != len(block):
        raise InvalidRecord("a batch holds more bytes than its records")


def unpacked(batch: Buffer, header: BatchHeader, *, limit: int = MAX_UNPACKED_BYTES) -> memoryview:
    """The bytes of the records, decompressed if need be."""
    block = memoryview(batch)[HEADER_BYTES : header.size_bytes]
    if not header.codec:
        return block
    from kwire.codec.records.compression import decompress

    return memoryview(decompress(header.codec, block, limit=limit))


def _read(block: memoryview, position: int, header: BatchHeader) -> tuple[Record, int]:
    try:
        length, position = read_varint(block, position)
        end = position + length
        if length < 0 or end > len(block):
            raise InvalidRecord("a record reaches beyond its batch")
        timestamp_delta, position = read_varint(block, position + 1, MAX_VARLONG_BYTES)
        offset_delta, position = read_varint(block, position)
        key, position = _read_bytes(block, position, end)
        value, position = _read_bytes(block, position, end)
        headers, position = _read_headers(block, position, end)
    except IndexError:
        raise InvalidRecord("a record ends too early") from None
    if position != end:
        raise InvalidRecord("a record has another length than it says")
    timestamp = header.base_timestamp + timestamp_delta
    if header.is_log_append_time:
        timestamp = header.max_timestamp
    return Record(header.base_offset + offset_delta, timestamp, key, value, headers), position


def _read_bytes(block: memoryview, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = read_varint(block, position)
    if length < 0:
        return None, position
    after = position + length
    if after > end:
        raise InvalidRecord("a key or value reaches beyond its record")
    return bytes(block[position:after]), after


def _read_headers(
    block: memoryview, position: int, end: int
) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, position = read_varint(block, position)
    if count == 0:
        return (), position
    if count < 0 or count > end - position:
        raise InvalidRecord("a record has more headers than bytes")
    headers = []
    for _ in range(count):
        name, position = _read_bytes(block, position, end)
        value, position = _read_bytes(block, position, end)
        if name is None:
            raise InvalidRecord("a header has no key")
        try:
            headers.append((name.decode(), value))
        except UnicodeDecodeError:
            raise InvalidRecord("a header's key is not UTF-8") from None
    return tuple(headers), position
