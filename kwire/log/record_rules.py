"""The rules that only a batch's records can answer, and the changes a topic asks for.

`validate` decides about the header; here the records are opened if they must be, every one is
checked, and the batch is written again where its codec or its newest timestamp is not what the
topic stores. Records are copied as one block: they look the same under every codec.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.batch import (
    CODEC_MASK,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
    parse_header,
    rewrite_crc,
    write_header,
)
from kwire.codec.records.builder import join_batch
from kwire.codec.records.record import unpacked
from kwire.config.keys import LONG_MAX
from kwire.config.topic import TopicConfig
from kwire.errors import InvalidRecord, InvalidTimestamp
from kwire.log.record_shape import RecordShape, first_records_hold, shapes

DECOMPRESSED_LIMIT_BYTES = 128 * 1024 * 1024
"""A producer's batch that would grow beyond this is refused."""

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
SIGNATURES = {
    0: b"",
    GZIP: b"\x1f\x8b",
    SNAPPY: b"",
    LZ4: b"\x04\x22\x4d\x18",
    ZSTD: b"\x28\xb5\x2f\xfd",
}
"""The bytes a compressed block begins with. Snappy comes with a frame or without, so with none."""

_TARGETS = {"uncompressed": 0, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}


class RecordError(NamedTuple):
    """What is wrong with one record, counted from 0 in its batch (KIP-467)."""

    batch_index: int
    message: str
    is_about_time: bool


class InvalidRecords(InvalidRecord):
    """One or more records break a rule of the topic."""

    def __init__(self, record_errors: list[RecordError]) -> None:
        super().__init__(f"{len(record_errors)} records were rejected: {record_errors[0].message}")
        self.record_errors = record_errors


class InvalidTimestamps(InvalidTimestamp):
    """One or more records have a timestamp that the topic does not take."""

    def __init__(self, record_errors: list[RecordError]) -> None:
        super().__init__(f"{len(record_errors)} records were rejected: {record_errors[0].message}")
        self.record_errors = record_errors


def check_records(
    batch: memoryview, header: BatchHeader, config: TopicConfig, now_ms: int
) -> tuple[memoryview | bytearray, BatchHeader]:
    """Check the records of a sound batch; returns the batch as the topic stores it."""
    codec = _TARGETS.get(config.compression_type, header.codec)
    if not _must_open(header, codec, config, now_ms):
        _look_at_closed(batch, header)
        return batch, header
    block = unpacked(batch, header, limit=DECOMPRESSED_LIMIT_BYTES)
    newest = _check_each(shapes(block, header.records_count), header, config, now_ms)
    wanted = header._replace(
        attributes=header.attributes & ~(CODEC_MASK | LOG_APPEND_TIME) | codec,
        max_timestamp=newest,
    )
    if codec != header.codec:
        rewritten = join_batch(wanted, bytes(block), level=_level(codec, config))
        return rewritten, parse_header(rewritten)
    if wanted != header:
        write_header(batch, wanted)
        return batch, rewrite_crc(batch)
    return batch, header


def _must_open(header: BatchHeader, codec: int, config: TopicConfig, now_ms: int) -> bool:
    if codec != header.codec or "compact" in config.cleanup_policy or header.is_log_append_time:
        return True
    return config.message_timestamp_type == "CreateTime" and (
        config.message_timestamp_before_max_ms != LONG_MAX
        or header.max_timestamp - now_ms > config.message_timestamp_after_max_ms
    )


def _look_at_closed(batch: memoryview, header: BatchHeader) -> None:
    if header.codec == 0:
        if not first_records_hold(batch, HEADER_BYTES, len(batch), header.records_count):
            # The thorough reader finds the same fault, and has words for it.
            for _ in shapes(batch, header.records_count, HEADER_BYTES):
                pass
            raise InvalidRecord("the batch's records are malformed")
        return
    signature = SIGNATURES[header.codec]
    if batch[HEADER_BYTES : HEADER_BYTES + len(signature)] != signature:
        raise InvalidRecord(f"the batch's records are not compressed with codec {header.codec}")


def _check_each(
    records: Iterator[RecordShape], header: BatchHeader, config: TopicConfig, now_ms: int
) -> int:
    """Check key and time of every record; returns the newest time."""
    compacted = "compact" in config.cleanup_policy
    errors: list[RecordError] = []
    newest = NO_TIMESTAMP
    for index, shape in enumerate(records):
        if header.is_log_append_time:
            timestamp = header.max_timestamp
        else:
            timestamp = header.base_timestamp + shape.timestamp_delta
        if compacted and not shape.has_key:
            message = "a compacted topic takes no record without a key"
            errors.append(RecordError(index, message, is_about_time=False))
        elif wrong := _wrong_time(timestamp, header, config, now_ms):
            errors.append(RecordError(index, wrong, is_about_time=True))
        elif timestamp > newest:
            newest = timestamp
    if errors:
        raise (
            InvalidTimestamps(errors)
            if any(error.is_about_time for error in errors)
            else InvalidRecords(errors)
        )
    return newest


def _wrong_time(
    timestamp: int, header: BatchHeader, config: TopicConfig, now_ms: int
) -> str | None:
    """Why the record's time is not taken. A producer may not itself claim LogAppendTime."""
    if not -LONG_MAX <= timestamp <= LONG_MAX:
        return f"timestamp {timestamp} is out of range"
    if config.message_timestamp_type == "CreateTime" and timestamp != NO_TIMESTAMP:
        earliest = now_ms - config.message_timestamp_before_max_ms
        latest = now_ms + config.message_timestamp_after_max_ms
        if not earliest <= timestamp <= latest:
            return f"timestamp {timestamp} is out of range, which is [{earliest}, {latest}]"
    elif header.is_log_append_time:
        return "a producer should not set the timestamp type to LogAppendTime"
    return None


def _level(codec: int, config: TopicConfig) -> int | None:
    if codec == GZIP:
        return config.compression_gzip_level
    if codec == LZ4:
        return config.compression_lz4_level
    return config.compression_zstd_level if codec == ZSTD else None
