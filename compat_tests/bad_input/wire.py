"""Kafka's wire format by hand: just enough to write what no client would, and to read the answer.

This is on purpose not kwire's codec: a mistake made twice would not be seen.
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple

import crc32c

PRODUCE = 0
FETCH = 1
LIST_OFFSETS = 2
METADATA = 3
API_VERSIONS = 18
CREATE_TOPICS = 19
DELETE_TOPICS = 20
DELETE_RECORDS = 21
INIT_PRODUCER_ID = 22
DESCRIBE_CONFIGS = 32
ALTER_CONFIGS = 33
CREATE_PARTITIONS = 37
INCREMENTAL_ALTER_CONFIGS = 44

BATCH_HEADER = struct.Struct(">qiibIhiqqqhii")
CRC_START = 21


def i8(value: int) -> bytes:
    return struct.pack(">b", value)


def i16(value: int) -> bytes:
    return struct.pack(">h", value)


def i32(value: int) -> bytes:
    return struct.pack(">i", value)


def i64(value: int) -> bytes:
    return struct.pack(">q", value)


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int) -> bytes:
    return uvarint((value << 1) ^ (value >> 63) if value < 0 else value << 1)


def text(value: str | bytes | None) -> bytes:
    if value is None:
        return i16(-1)
    raw = value.encode() if isinstance(value, str) else value
    return i16(len(raw)) + raw


def blob(value: bytes | None) -> bytes:
    return i32(-1) if value is None else i32(len(value)) + value


def array(*items: bytes) -> bytes:
    return i32(len(items)) + b"".join(items)


def frame(content: bytes) -> bytes:
    return i32(len(content)) + content


def request(
    api: int,
    version: int,
    body: bytes = b"",
    *,
    client_id: str | bytes | None = "hostile",
    tags: bytes | None = None,
) -> bytes:
    """A whole frame; `tags` are the header's tagged fields, for flexible versions only."""
    head = i16(api) + i16(version) + i32(7) + text(client_id) + (b"" if tags is None else tags)
    return frame(head + body)


def record(
    value: bytes | None = b"value",
    *,
    key: bytes | None = b"key",
    offset_delta: int = 0,
    timestamp_delta: int = 0,
    headers: bytes = varint(0),
    length: int | None = None,
) -> bytes:
    """One record; `length` is what it claims to be, if that is not the truth."""
    body = i8(0) + varint(timestamp_delta) + varint(offset_delta)
    for part in (key, value):
        body += varint(-1) if part is None else varint(len(part)) + part
    body += headers
    return varint(len(body) if length is None else length) + body


class Batch(NamedTuple):
    """A batch of which every field can lie. `None` means: the truth."""

    payload: bytes = record()
    base_offset: int = 0
    length: int | None = None
    magic: int = 2
    crc: int | None = None
    attributes: int = 0
    last_offset_delta: int = 0
    base_timestamp: int = 0
    max_timestamp: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    records: int = 1

    def build(self, now: int) -> bytes:
        """The bytes; timestamps are counted from `now`."""
        first = now + self.base_timestamp
        packed = bytearray(
            BATCH_HEADER.pack(
                self.base_offset,
                49 + len(self.payload) if self.length is None else self.length,
                -1,
                self.magic,
                0,
                self.attributes,
                self.last_offset_delta,
                first,
                first if self.max_timestamp is None else self.max_timestamp,
                self.producer_id,
                self.producer_epoch,
                self.base_sequence,
                self.records,
            )
            + self.payload
        )
        true_crc = crc32c.crc32c(bytes(packed[CRC_START:]))
        struct.pack_into(">I", packed, CRC_START - 4, true_crc if self.crc is None else self.crc)
        return bytes(packed)


def produce(
    topic: str | None, records: bytes | None, *, partition: int = 0, acks: int = -1
) -> bytes:
    """A Produce request of version 7."""
    partitions = array(i32(partition) + blob(records))
    body = text(None) + i16(acks) + i32(1000) + array(text(topic) + partitions)
    return request(PRODUCE, 7, body)


def create_topic(
    name: str | bytes | None,
    *,
    partitions: int = 1,
    replicas: int = 1,
    assignments: bytes = array(),
    configs: Iterable[tuple[str | None, str | None]] = (),
    copies: int = 1,
) -> bytes:
    """A CreateTopics request of version 2; `copies` says the same topic several times."""
    settings = array(*(text(key) + text(value) for key, value in configs))
    topic = text(name) + i32(partitions) + i16(replicas) + assignments + settings
    return request(CREATE_TOPICS, 2, array(*[topic] * copies) + i32(1000) + i8(0))


class Reader:
    """An answer, read from the front."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 4  # the correlation id

    def i8(self) -> int:
        return self._take(">b", 1)

    def i16(self) -> int:
        return self._take(">h", 2)

    def i32(self) -> int:
        return self._take(">i", 4)

    def i64(self) -> int:
        return self._take(">q", 8)

    def text(self) -> str | None:
        length = self.i16()
        if length < 0:
            return None
        self._position += length
        return self._content[self._position - length : self._position].decode()

    def _take(self, layout: str, size: int) -> int:
        (value,) = struct.unpack_from(layout, self._content, self._position)
        self._position += size
        assert isinstance(value, int)
        return value
