"""What a producer may write: one sound batch of magic 2 a partition, and what the topic adds to it.

Two lanes lead through here. `check_batches` first asks one long question whose answer is yes for
nearly every batch: an uncompressed one with an honest header, on a topic that asks for nothing
special. If it is no, `_check_carefully` goes through the rules one by one, in the order in which
Kafka 4 meets them, and either refuses with the same error or changes the batch as the topic demands
(LogAppendTime, another codec). What the first lane takes, the second takes unchanged.

Records are opened, all of them, when only they can answer: on a compacted topic (no record without
a key), with a finite message.timestamp.before.max.ms, when the header's newest time lies too far
ahead (to name the records), and when the batch is stored with another codec. Otherwise they stay
closed, which is where we knowingly differ from Kafka, which walks through every record:

- uncompressed: the first four records are looked at, and the number of records must fit into the
  bytes. A batch of up to four is thereby checked whole; garbage behind the fourth record of a batch
  with a true checksum is stored, and is that producer's message to its readers.
- compressed: only the codec's signature is looked at. Snappy has none.
- the header's max timestamp is believed, where Kafka counts it again.

Stricter than Kafka: a transactional batch without a producer id, offset deltas that do not count
from zero, and an unknown codec (Kafka: UNKNOWN_SERVER_ERROR) are refused. A batch that cannot be
decompressed is an INVALID_RECORD, so that the producer does not try again.
"""

import struct
from typing import NamedTuple, NoReturn

from kwire.codec.records.batch import (
    CODEC_MASK,
    CONTROL,
    HEADER_BYTES,
    LENGTH_END,
    LOG_APPEND_TIME,
    MAGIC,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
    crc_holds,
    parse_header,
    stamp_log_append_time,
)
from kwire.config.keys import LONG_MAX
from kwire.config.topic import TopicConfig
from kwire.errors import (
    CorruptMessage,
    InvalidRecord,
    MessageTooLarge,
    RecordListTooLarge,
    UnsupportedCompressionType,
)
from kwire.log.record_rules import SIGNATURES, ZSTD, check_records
from kwire.log.record_shape import first_records_hold

FIRST_VERSION_WITH_ZSTD = 7

_MAGIC_AT = 16
_SMALLEST_LENGTH = 14
"""The shortest message there ever was, one of magic 0."""
_NOT_PLAIN = CODEC_MASK | LOG_APPEND_TIME | CONTROL
_new_tuple = tuple.__new__
_unpack_length = struct.Struct(">i").unpack_from


class Checked(NamedTuple):
    """A batch that may be appended: the producer's own bytes wherever that is possible."""

    batch: memoryview | bytearray
    header: BatchHeader
    log_append_time_ms: int
    """-1 where records keep the producer's time."""


def check_batches(
    records: memoryview | None, config: TopicConfig, *, now_ms: int, produce_version: int
) -> Checked:
    """Check what one Produce request brings for one partition.

    A batch that must change is changed in place if its size stays, so `records` must be writable.
    """
    if records is None:
        records = memoryview(b"")
    if len(records) >= HEADER_BYTES:
        header = parse_header(records)
        (offset, length, _, magic, _, attributes, delta, _, newest, producer, _, seq, count) = (
            header
        )
        size = length + LENGTH_END
        if (
            magic == MAGIC
            and offset == 0
            and size == len(records)
            and size <= config.max_message_bytes
            and size <= config.segment_bytes
            and count == delta + 1
            and count > 0
            and not attributes & _NOT_PLAIN
            and (seq >= 0 if producer >= 0 else not attributes & TRANSACTIONAL)
            and newest - now_ms <= config.message_timestamp_after_max_ms
            and config.message_timestamp_before_max_ms == LONG_MAX
            and config.message_timestamp_type == "CreateTime"
            and config.compression_type in ("producer", "uncompressed")
            and "compact" not in config.cleanup_policy
            and crc_holds(records, header)
            and first_records_hold(records, HEADER_BYTES, size, count)
        ):
            return _new_tuple(Checked, (records, header, NO_TIMESTAMP))
    return _check_carefully(records, config, now_ms, produce_version)


def _check_carefully(
    records: memoryview, config: TopicConfig, now_ms: int, produce_version: int
) -> Checked:
    batch = _only_batch(records, produce_version)
    header = _check_frame(batch, config)
    _check_header(header)
    stored, header = check_records(batch, header, config, now_ms)
    if header.size_bytes > config.max_message_bytes:
        _refuse_size(header, config)
    if header.size_bytes > config.segment_bytes:
        raise RecordListTooLarge(
            f"the batch of {header.size_bytes} bytes is larger than a segment of this topic,"
            f" {config.segment_bytes}"
        )
    if config.message_timestamp_type == "CreateTime":
        return Checked(stored, header, NO_TIMESTAMP)
    return Checked(stored, stamp_log_append_time(stored, now_ms), now_ms)


def _only_batch(records: memoryview, produce_version: int) -> memoryview:
    """The one batch; bytes behind it that are not even a second one are cut off, as in Kafka."""
    size = _next_batch_bytes(records, 0)
    if size is None:
        raise InvalidRecord("a Produce request must bring one record batch for each partition")
    if records[_MAGIC_AT] != MAGIC:
        raise InvalidRecord("a Produce request may only bring record batches of magic 2")
    if (
        produce_version < FIRST_VERSION_WITH_ZSTD
        and size >= HEADER_BYTES
        and parse_header(records).codec == ZSTD
    ):
        raise UnsupportedCompressionType(f"Produce version {produce_version} does not know zstd")
    if _next_batch_bytes(records, size) is not None:
        raise InvalidRecord("a Produce request may only bring one record batch for each partition")
    return records[:size]


def _next_batch_bytes(records: memoryview, position: int) -> int | None:
    """The size of the batch that starts here; None if it is not there as a whole."""
    left = len(records) - position
    if left < LENGTH_END:
        return None
    (length,) = _unpack_length(records, position + 8)
    if length < _SMALLEST_LENGTH:
        raise CorruptMessage(f"a batch says it is {length} bytes long")
    if left <= _MAGIC_AT:
        return None
    magic = records[position + _MAGIC_AT]
    if magic > MAGIC:
        raise CorruptMessage(f"there is no magic {magic}")
    size: int = length + LENGTH_END
    return size if size <= left else None


def _check_frame(batch: memoryview, config: TopicConfig) -> BatchHeader:
    header = parse_header(batch)
    if header.base_offset != 0:
        raise InvalidRecord(f"the base offset should be 0, but it is {header.base_offset}")
    if header.size_bytes > config.max_message_bytes:
        _refuse_size(header, config)
    if not crc_holds(batch, header):
        raise CorruptMessage(f"the batch's checksum {header.crc} does not hold")
    return header


def _refuse_size(header: BatchHeader, config: TopicConfig) -> NoReturn:
    raise MessageTooLarge(
        f"the batch of {header.size_bytes} bytes is larger than this topic takes,"
        f" {config.max_message_bytes}"
    )


def _check_header(header: BatchHeader) -> None:
    if header.codec not in SIGNATURES:
        raise UnsupportedCompressionType(f"there is no codec {header.codec}")
    if header.records_count <= 0 or header.records_count != header.last_offset_delta + 1:
        raise InvalidRecord(
            f"the batch says it has {header.records_count} records,"
            f" and that the last is number {header.last_offset_delta}"
        )
    if header.is_control:
        raise InvalidRecord("clients are not allowed to write control records")
    if header.has_producer and header.base_sequence < 0:
        raise InvalidRecord(
            f"producer {header.producer_id} sends the sequence number {header.base_sequence}"
        )
    if header.is_transactional and not header.has_producer:
        raise InvalidRecord("a transactional batch must name its producer")
