"""Batches made from records: what this broker itself writes, and what tests need.

The data path never comes here; a producer's batch is stored as it came.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum

from kwire.codec.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    HEADER_BYTES,
    LENGTH_END,
    LOG_APPEND_TIME,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
    rewrite_crc,
    write_header,
)
from kwire.codec.records.record import Record
from kwire.codec.records.varint import encode_varint

_NULL = encode_varint(-1)


class TimestampType(IntEnum):
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


def number(
    pairs: Iterable[tuple[bytes | None, bytes | None]], timestamp: int, *, base_offset: int = 0
) -> list[Record]:
    """Records of one moment from keys and values, with offsets that follow each other."""
    return [
        Record(base_offset + delta, timestamp, key, value)
        for delta, (key, value) in enumerate(pairs)
    ]


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    last_offset: int | None = None,
    codec: int = 0,
    level: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    leader_epoch: int = NO_LEADER_EPOCH,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """One batch with a true checksum. Offsets must rise from `base_offset` on; gaps may be.

    `last_offset` is the last record's unless given: a compacted batch keeps the one it had.
    """
    if last_offset is None:
        last_offset = records[-1].offset if records else base_offset
    base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    attributes = codec if records else 0
    attributes |= LOG_APPEND_TIME if timestamp_type == TimestampType.LOG_APPEND_TIME else 0
    attributes |= TRANSACTIONAL if transactional else 0
    attributes |= CONTROL if control else 0
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON
        base_timestamp = delete_horizon_ms
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=last_offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max((record.timestamp for record in records), default=NO_TIMESTAMP),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=len(records),
    )
    block = b"".join(encode_record(record, base_offset, base_timestamp) for record in records)
    return join_batch(header, block, level=level)


def join_batch(header: BatchHeader, block: bytes, *, level: int | None = None) -> bytearray:
    """Put a header before a block of encoded records, which is compressed as the header says.

    The header's length and checksum are set here. No records, no compression: just a header.
    """
    if block and header.codec:
        from kwire.codec.records.compression import compress

        block = compress(header.codec, block, level)
    batch = bytearray(HEADER_BYTES)
    batch += block
    write_header(batch, header._replace(batch_length=len(batch) - LENGTH_END, crc=0))
    rewrite_crc(batch)
    return batch


def encode_record(record: Record, base_offset: int, base_timestamp: int) -> bytes:
    """One record as it lies in a block, with its length in front."""
    parts = [
        b"\0",
        encode_varint(record.timestamp - base_timestamp),
        encode_varint(record.offset - base_offset),
        *_sized(record.key),
        *_sized(record.value),
        encode_varint(len(record.headers)),
    ]
    for name, value in record.headers:
        parts += _sized(name.encode())
        parts += _sized(value)
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def _sized(value: bytes | None) -> tuple[bytes, ...]:
    return (_NULL,) if value is None else (encode_varint(len(value)), value)
