"""Things that tests of several rooms need, made with as few words as possible."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from kwire.codec.records.batch import BatchHeader, parse_header
from kwire.codec.records.builder import TimestampType, build_batch
from kwire.codec.records.record import Record

A_TIMESTAMP = 1_700_000_000_000


def a_record(
    offset: int = 0,
    *,
    key: bytes | None = b"key",
    value: bytes | None = b"value",
    timestamp: int = A_TIMESTAMP,
    headers: tuple[tuple[str, bytes | None], ...] = (),
) -> Record:
    return Record(offset, timestamp, key, value, headers)


def some_records(
    count: int, *, base_offset: int = 0, timestamp: int = A_TIMESTAMP, value_bytes: int = 0
) -> list[Record]:
    """Records `key-0`, `key-1` and so on, one millisecond apart."""
    return [
        Record(
            base_offset + delta,
            timestamp + delta,
            b"key-%d" % delta,
            (b"value-%d" % delta).ljust(value_bytes, b"."),
        )
        for delta in range(count)
    ]


def a_batch(
    records: int | Sequence[Record] = 1,
    *,
    size_bytes: int | None = None,
    base_offset: int = 0,
    timestamp: int = A_TIMESTAMP,
    codec: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    leader_epoch: int = -1,
) -> bytearray:
    """A batch of so many records, or of these; padded to exactly `size_bytes` if that is given.

    (No single record makes a batch of 126 bytes: its length takes one byte until 125, then two.)
    """

    def build(chosen: Sequence[Record]) -> bytearray:
        return build_batch(
            chosen,
            base_offset=base_offset,
            codec=codec,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            transactional=transactional,
            control=control,
            timestamp_type=timestamp_type,
            leader_epoch=leader_epoch,
        )

    chosen = (
        some_records(records, base_offset=base_offset, timestamp=timestamp)
        if isinstance(records, int)
        else list(records)
    )
    return build(chosen) if size_bytes is None else _build_padded(chosen, size_bytes, build)


def a_batch_and_header(
    records: int | Sequence[Record] = 1, **options: Any
) -> tuple[bytearray, BatchHeader]:
    """`a_batch` together with its parsed header, as an append wants them."""
    batch = a_batch(records, **options)
    return batch, parse_header(batch)


def _build_padded(
    records: list[Record], size_bytes: int, build: Callable[[Sequence[Record]], bytearray]
) -> bytearray:
    last = records[-1]
    missing = size_bytes - len(build(records))
    if missing == 0:
        return build(records)
    # A longer value may need a longer length too; then a byte more in the key makes it exact.
    for in_key, less in product(range(4), range(8)):
        in_value = missing - in_key - less
        if in_value < 0:
            continue
        padded = last._replace(
            key=(last.key or b"") + b"." * in_key, value=(last.value or b"") + b"." * in_value
        )
        batch = build([*records[:-1], padded])
        if len(batch) == size_bytes:
            return batch
    raise ValueError(f"cannot make a batch of {size_bytes} bytes, {missing} more than its content")
