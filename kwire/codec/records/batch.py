"""The header of a record batch (magic 2): read, stamped and checked without opening its records.

    position  type  field                   position  type  field
           0  i64   base offset                   23  i32   last offset delta
           8  i32   batch length (after it)       27  i64   base timestamp
          12  i32   partition leader epoch        35  i64   max timestamp
          16  i8    magic, 2                      43  i64   producer id
          17  u32   crc-32c from byte 21 on       51  i16   producer epoch
          21  i16   attributes                    53  i32   base sequence
                                                  57  i32   number of records
          61  the records, compressed as one block if the attributes say so

Attributes: bits 0-2 codec, 3 timestamps are LogAppendTime, 4 transactional, 5 control, 6 the base
timestamp is a delete horizon (KIP-534). Base offset and leader epoch lie outside the checksum, so
that a broker may stamp them in place. The data path runs through here: parsing is one `struct`
call, and nothing is copied. Message sets of magic 0 and 1 are in `legacy`.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.crc import Buffer, crc32c
from kwire.errors import CorruptMessage

HEADER_BYTES = 61
MAGIC = 2
CRC_START = 21
LENGTH_END = 12
"""`batch_length` counts the bytes from here on."""

CODEC_MASK = 0b0000_0111
LOG_APPEND_TIME = 0b0000_1000
TRANSACTIONAL = 0b0001_0000
CONTROL = 0b0010_0000
DELETE_HORIZON = 0b0100_0000

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

_HEADER = struct.Struct(">qiibIhiqqqhii")
_unpack_header = _HEADER.unpack_from
_unpack_length = struct.Struct(">i").unpack_from
_unpack_attributes = struct.Struct(">h").unpack_from
_pack_base_offset = struct.Struct(">q").pack_into
_pack_leader_epoch = struct.Struct(">i").pack_into
_pack_crc = struct.Struct(">I").pack_into
_pack_attributes = struct.Struct(">h").pack_into
_pack_max_timestamp = struct.Struct(">q").pack_into
_new_tuple = tuple.__new__


class BatchHeader(NamedTuple):
    """The 61 bytes in front of a batch's records, as they are on the wire and on disk."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_bytes(self) -> int:
        return self.batch_length + LENGTH_END

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """The number of a `compression.Codec`; from outside it may be one that does not exist."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return self.attributes & LOG_APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When tombstones and markers of this batch may go, once a compaction has set it."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def has_producer(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; they wrap from 2^31 - 1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFF_FFFF


def parse_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Read the header at `position`; whether it tells the truth is for the caller to check."""
    try:
        return _new_tuple(BatchHeader, _unpack_header(buffer, position))
    except struct.error:
        raise CorruptMessage(
            f"a batch is shorter than its header of {HEADER_BYTES} bytes"
        ) from None


def write_header(buffer: bytearray | memoryview, header: BatchHeader, position: int = 0) -> None:
    """Write a header as it is, checksum included; see `rewrite_crc` for a true checksum."""
    _HEADER.pack_into(buffer, position, *header)


def stamp(
    buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Give a batch its place in a log, in place. The checksum does not cover what changes."""
    _pack_base_offset(buffer, position, base_offset)
    _pack_leader_epoch(buffer, position + 12, leader_epoch)


def crc_holds(buffer: Buffer, header: BatchHeader, position: int = 0) -> bool:
    """Whether the whole batch is there, and its bytes are those the checksum was made of."""
    length = header.batch_length
    body = memoryview(buffer)[position + CRC_START : position + LENGTH_END + length]
    return len(body) == length - 9 and crc32c(body) == header.crc


def rewrite_crc(buffer: bytearray | memoryview, position: int = 0) -> BatchHeader:
    """Make the checksum of a changed batch true again, and return its header as it is now."""
    end = position + LENGTH_END + _unpack_length(buffer, position + 8)[0]
    _pack_crc(buffer, position + 17, crc32c(memoryview(buffer)[position + CRC_START : end]))
    return parse_header(buffer, position)


def stamp_log_append_time(
    buffer: bytearray | memoryview, now_ms: int, position: int = 0
) -> BatchHeader:
    """Let every record of a batch carry the broker's time: only the header says so.

    Readers take the max timestamp for all records of such a batch; the deltas stay as they are.
    """
    (attributes,) = _unpack_attributes(buffer, position + 21)
    _pack_attributes(buffer, position + 21, attributes | LOG_APPEND_TIME)
    _pack_max_timestamp(buffer, position + 35, now_ms)
    return rewrite_crc(buffer, position)


def each_batch(buffer: Buffer, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Every whole batch and where it starts; a batch cut off at the end is left out.

    A length that no batch can have raises `CorruptMessage`: what follows cannot be found.
    """
    end = len(buffer)
    while position + HEADER_BYTES <= end:
        header: BatchHeader = _new_tuple(BatchHeader, _unpack_header(buffer, position))
        following = position + header.batch_length + LENGTH_END
        if following - position < HEADER_BYTES:
            raise CorruptMessage(f"a batch says it is {header.size_bytes} bytes long")
        if following > end:
            return
        yield position, header
        position = following
