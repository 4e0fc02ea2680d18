"""Message sets, the record formats before batches (magic 0 and 1): read, and made into batches.

Nobody may produce them any more; they are in the segments of old logs. One entry of a set:

    offset i64, size i32, then a message of that size:
    crc-32 u32 of what follows, magic i8, attributes i8, timestamp i64 (magic 1 only),
    key and value (length i32, -1 for null, and bytes)

Attributes: bits 0-2 codec, 3 the timestamp is LogAppendTime (magic 1). A compressed message is a
wrapper: its value is a whole message set. A wrapper has the offset of its last message; inside,
offsets are those of the log (magic 0) or count from any number (magic 1, KIP-31).
"""

import struct
import zlib
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from kwire.codec.records.batch import CODEC_MASK, LOG_APPEND_TIME, NO_TIMESTAMP
from kwire.codec.records.builder import TimestampType, build_batch
from kwire.codec.records.compression import Codec, decompress
from kwire.codec.records.crc import Buffer
from kwire.codec.records.record import MAX_UNPACKED_BYTES, Record
from kwire.errors import CorruptMessage, InvalidRecord, UnsupportedCompressionType

_ENTRY = struct.Struct(">qi")
_MESSAGE = struct.Struct(">Ibb")
_LEAST_BYTES = _MESSAGE.size + 8
_CRC_END = 4
_MAX_OFFSET_DELTA = 2**31 - 1
_read_timestamp = struct.Struct(">q").unpack_from
_read_length = struct.Struct(">i").unpack_from


class Message(NamedTuple):
    """One entry of a message set: a record, or a wrapper of many."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return self.magic > 0 and self.attributes & LOG_APPEND_TIME != 0


def each_message(message_set: Buffer, *, is_whole: bool = False) -> Iterator[Message]:
    """Every message, wrappers unopened.

    One that is cut off at the end is left out, as a segment or an answer may end anywhere; in a
    set that must be whole it is an `InvalidRecord`.
    """
    view = memoryview(message_set)
    position = 0
    while position + _ENTRY.size <= len(view):
        offset, size = _ENTRY.unpack_from(view, position)
        if size < _LEAST_BYTES:
            raise CorruptMessage(f"a message says it is {size} bytes long")
        following = position + _ENTRY.size + size
        if following > len(view):
            break
        yield _read_message(offset, view[position + _ENTRY.size : following])
        position = following
    if is_whole and position != len(view):
        raise InvalidRecord("a message set is cut short")


def records_in(message: Message, *, limit: int = MAX_UNPACKED_BYTES) -> list[Record]:
    """What a message holds: itself, or all that it wraps, with the offsets they have in the log."""
    if not message.codec:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    wrapped = list(each_message(_unwrapped(message, limit), is_whole=True))
    if not wrapped or any(inner.codec or inner.magic != message.magic for inner in wrapped):
        raise InvalidRecord("a wrapper does not hold plain messages of its own magic")
    ahead = message.offset - wrapped[-1].offset if message.magic else 0
    return [
        Record(
            inner.offset + ahead,
            message.timestamp if message.is_log_append_time else inner.timestamp,
            inner.key,
            inner.value,
        )
        for inner in wrapped
    ]


def up_convert(message_set: Buffer) -> list[bytearray]:
    """The same records as batches, with their offsets, timestamps and codecs.

    Neighbours share a batch if their codec is the same, and their LogAppendTime.
    """
    batches = []
    for (codec, append_time), messages in groupby(each_message(message_set), _kind):
        records = [record for message in messages for record in records_in(message)]
        _check_offsets(records)
        batch = build_batch(
            records,
            base_offset=records[0].offset,
            codec=codec,
            timestamp_type=TimestampType(append_time is not None),
        )
        batches.append(batch)
    return batches


def _kind(message: Message) -> tuple[int, int | None]:
    return message.codec, message.timestamp if message.is_log_append_time else None


def _check_offsets(records: list[Record]) -> None:
    if any(before.offset >= after.offset for before, after in pairwise(records)):
        raise InvalidRecord("the offsets of a message set do not rise")
    if records[-1].offset - records[0].offset > _MAX_OFFSET_DELTA:
        raise InvalidRecord("the offsets of a message set are too far apart for one batch")


def _read_message(offset: int, message: memoryview) -> Message:
    crc, magic, attributes = _MESSAGE.unpack_from(message)
    if zlib.crc32(message[_CRC_END:]) != crc:
        raise CorruptMessage(f"the checksum of the message at offset {offset} is wrong")
    if magic not in (0, 1):
        raise InvalidRecord(f"a message of magic {magic} in a message set")
    position, timestamp = _MESSAGE.size, NO_TIMESTAMP
    try:
        if magic:
            (timestamp,) = _read_timestamp(message, position)
            position += 8
        key, position = _read_bytes(message, position)
        value, position = _read_bytes(message, position)
    except struct.error:
        raise InvalidRecord("a message ends too early") from None
    if position != len(message):
        raise InvalidRecord("a message has another length than it says")
    return Message(offset, magic, attributes, timestamp, key, value)


def _read_bytes(message: memoryview, position: int) -> tuple[bytes | None, int]:
    (length,) = _read_length(message, position)
    position += 4
    if length < 0:
        return None, position
    if length > len(message) - position:
        raise InvalidRecord("a key or value reaches beyond its message")
    return bytes(message[position : position + length]), position + length


def _unwrapped(message: Message, limit: int) -> bytes:
    if message.codec > Codec.LZ4:
        raise UnsupportedCompressionType(f"no message set has codec {message.codec}")
    if message.value is None:
        raise InvalidRecord("a wrapper is empty")
    if message.codec == Codec.LZ4 and message.magic == 0:
        return decompress(Codec.LZ4, _with_true_checksum(message.value), limit=limit)
    return decompress(message.codec, message.value, limit=limit)


def _with_true_checksum(frame: bytes) -> bytes:
    """Mend what Kafka's first lz4 frames got wrong: their header's checksum covered the magic.

    Magic u32, flags u8, block size u8, content size u64 if bit 3 of the flags says so, checksum u8.
    """
    if len(frame) < 7:
        return frame
    end = 14 if frame[4] & 0b1000 else 6
    checksum = _xxh32(frame[4:end]) >> 8 & 0xFF
    return b"%b%c%b" % (frame[:end], checksum, frame[end + 1 :])


def _xxh32(data: bytes) -> int:
    """xxHash-32 with seed 0, for less than 16 bytes."""
    mixed = 0x165667B1 + len(data)
    whole = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        mixed = _rotate(mixed + word * 0xC2B2AE3D, 17) * 0x27D4EB2F
    for byte in data[whole:]:
        mixed = _rotate(mixed + byte * 0x165667B1, 11) * 0x9E3779B1
    mixed &= 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 15) * 0x85EBCA77 & 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE3D & 0xFFFF_FFFF
    return mixed ^ mixed >> 16


def _rotate(number: int, bits: int) -> int:
    number &= 0xFFFF_FFFF
    return number << bits | number >> 32 - bits
