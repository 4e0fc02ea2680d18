"""The batches of a segment file, and with `deep` the records in them."""

import os
from pathlib import Path
from typing import BinaryIO

from kwire.cli.dump_items import Damage, Entry, Found, Value
from kwire.cli.record_json import shown
from kwire.codec.records.batch import (
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    crc_holds,
    parse_header,
)
from kwire.codec.records.compression import Codec
from kwire.codec.records.control import ABORT, COMMIT, read_marker
from kwire.codec.records.record import Record, each_record
from kwire.errors import KwireError

_CODECS = {int(codec): codec.name.lower() for codec in Codec}


def dump_segment(path: Path, *, deep: bool) -> Found:
    """Every batch in order. After damage that hides where the next batch starts, nothing more."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        position, expected = 0, _base_offset(path)
        while position < size:
            head = file.read(HEADER_BYTES)
            problem = _problem_of_head(head, size - position)
            if problem is not None:
                yield Damage(position, expected, f"{problem}; {size - position} bytes are left")
                return
            header = parse_header(head)
            batch = head + file.read(header.size_bytes - HEADER_BYTES)
            yield from _dump_batch(position, header, batch, expected, deep=deep)
            expected = max(expected, header.next_offset)
            position += header.size_bytes


def header_at(file: BinaryIO, position: int) -> BatchHeader | None:
    """The header of the batch that starts there, if one does."""
    file.seek(position)
    head = file.read(HEADER_BYTES)
    left = os.fstat(file.fileno()).st_size - position
    return None if _problem_of_head(head, left) else parse_header(head)


def _base_offset(path: Path) -> int:
    stem = path.name.partition(".")[0]
    return int(stem) if stem.isdecimal() else 0


def _problem_of_head(head: bytes, left: int) -> str | None:
    """Why what is here cannot be a whole batch."""
    if len(head) < HEADER_BYTES:
        return "a batch ends within its header"
    header = parse_header(head)
    if not any(head):
        return "zeros instead of a batch"
    if header.magic in (0, 1):
        return f"a message of format {header.magic}, older than what is read here"
    if header.magic != MAGIC:
        return f"a batch of magic {header.magic}"
    if header.size_bytes < HEADER_BYTES:
        return f"a batch that says it is {header.size_bytes} bytes long"
    if header.size_bytes > left:
        return f"a batch of {header.size_bytes} bytes is cut short"
    return None


def _dump_batch(
    position: int, header: BatchHeader, batch: bytes, expected: int, *, deep: bool
) -> Found:
    is_valid = crc_holds(batch, header)
    yield Entry("batch", _batch_fields(position, header, is_valid=is_valid))
    if header.base_offset < expected:
        problem = f"the batch begins at offset {header.base_offset}, expected {expected} or more"
        yield Damage(position, header.base_offset, problem)
    if header.last_offset_delta < 0:
        yield Damage(position, header.base_offset, "the batch ends before it begins")
    if not is_valid:
        yield Damage(position, header.base_offset, "the checksum of the batch does not hold")
    elif deep:
        yield from _dump_records(position, header, batch)


def _batch_fields(position: int, header: BatchHeader, *, is_valid: bool) -> dict[str, Value]:
    time = "LogAppendTime" if header.is_log_append_time else "CreateTime"
    return {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.records_count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.delete_horizon_ms,
        "position": position,
        time: header.max_timestamp,
        "size": header.size_bytes,
        "magic": header.magic,
        "compresscodec": _CODECS.get(header.codec, f"unknown {header.codec}"),
        "crc": header.crc,
        "isvalid": is_valid,
    }


def _dump_records(position: int, header: BatchHeader, batch: bytes) -> Found:
    last = header.base_offset - 1
    try:
        for index, record in enumerate(each_record(batch, header)):
            yield Entry("record", _record_fields(header, batch, index, record))
            if not last < record.offset <= header.last_offset:
                yield Damage(position, record.offset, "the record's offset is out of order")
            last = record.offset
    except KwireError as error:
        yield Damage(position, last + 1, error.message)


def _record_fields(
    header: BatchHeader, batch: bytes, index: int, record: Record
) -> dict[str, Value]:
    time = "LogAppendTime" if header.is_log_append_time else "CreateTime"
    sequence = -1 if header.base_sequence < 0 else (header.base_sequence + index) % 2**31
    fields: dict[str, Value] = {
        "offset": record.offset,
        time: record.timestamp,
        "keySize": -1 if record.key is None else len(record.key),
        "valueSize": -1 if record.value is None else len(record.value),
        "sequence": sequence,
        "headerKeys": [name for name, _ in record.headers],
    }
    if header.is_control:
        fields |= _control_fields(header, batch, record)
    else:
        fields["key"] = shown(record.key)
        fields["payload"] = shown(record.value)
    return fields


def _control_fields(header: BatchHeader, batch: bytes, record: Record) -> dict[str, Value]:
    """What a control record says: the end of a transaction, or news of Kafka's own quorum."""
    kind = int.from_bytes((record.key or b"")[2:4], "big")
    if kind not in (ABORT, COMMIT):
        return {"controlType": kind}
    marker = read_marker(batch, header)
    return {
        "endTxnMarker": "ABORT" if marker.is_abort else "COMMIT",
        "coordinatorEpoch": marker.coordinator_epoch,
    }
