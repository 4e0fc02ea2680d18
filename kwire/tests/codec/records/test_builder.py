"""What the builder makes, kafka-python and aiokafka read as it was meant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.batch import crc_holds, parse_header
from kwire.codec.records.builder import TimestampType, build_batch, number
from kwire.codec.records.compression import Codec
from kwire.codec.records.record import Record
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.codec.records.others import AiokafkaBatch, KafkaPythonBatch, records_of

BLOBS = st.none() | st.binary(max_size=200)
BODIES = st.lists(
    st.tuples(
        st.integers(0, 2**42),
        BLOBS,
        BLOBS,
        st.lists(st.tuples(st.text(max_size=20), BLOBS), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


@given(BODIES, st.integers(0, 2**50))
@pytest.mark.parametrize("reader", [KafkaPythonBatch, AiokafkaBatch])
def test_other_readers_see_the_records_that_were_put_in(
    reader: Any, bodies: list[Any], base_offset: int
) -> None:
    records = [Record(base_offset + index, *body) for index, body in enumerate(bodies)]
    batch = bytes(build_batch(records, base_offset=base_offset))
    read = reader(batch)
    assert read.validate_crc()
    assert records_of(read) == records


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("reader", [KafkaPythonBatch, AiokafkaBatch])
def test_other_readers_unpack_every_codec(reader: Any, codec: Codec) -> None:
    records = [a_record(index, value=bytes(40_000)) for index in range(3)]
    read = reader(bytes(build_batch(records, codec=codec)))
    assert read.validate_crc()
    assert records_of(read) == records


def test_a_batch_without_records_is_a_header_and_is_not_compressed() -> None:
    batch = build_batch([], base_offset=4, last_offset=9, codec=Codec.ZSTD)
    header = parse_header(batch)
    assert (len(batch), header.records_count, header.codec) == (61, 0, 0)
    assert (header.base_offset, header.last_offset, header.max_timestamp) == (4, 9, -1)
    assert crc_holds(batch, header)


def test_the_header_tells_what_was_asked_for() -> None:
    batch = build_batch(
        number([(b"a", b"1"), (b"b", None)], 1000, base_offset=40),
        base_offset=40,
        producer_id=5,
        producer_epoch=6,
        base_sequence=7,
        transactional=True,
        control=True,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        leader_epoch=8,
    )
    header = parse_header(batch)
    assert crc_holds(batch, header)
    assert (header.base_offset, header.last_offset, header.records_count) == (40, 41, 2)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 6, 7)
    assert header.is_transactional
    assert header.is_control
    assert header.is_log_append_time
    assert (header.base_timestamp, header.max_timestamp) == (1000, 1000)
    assert header.partition_leader_epoch == 8
    assert header.size_bytes == len(batch)


def test_the_last_offset_can_be_kept_above_the_last_record() -> None:
    header = parse_header(build_batch([a_record(3)], base_offset=2, last_offset=9))
    assert (header.base_offset, header.last_offset, header.records_count) == (2, 9, 1)


def test_a_delete_horizon_takes_the_place_of_the_base_timestamp() -> None:
    batch = build_batch([a_record(value=None)], delete_horizon_ms=A_TIMESTAMP + 500)
    assert parse_header(batch).delete_horizon_ms == A_TIMESTAMP + 500
    assert [record.timestamp for record in KafkaPythonBatch(bytes(batch))] == [A_TIMESTAMP]


@pytest.mark.parametrize("size_bytes", [*range(85, 126), *range(127, 200), 10_000, 70_000])
def test_a_test_batch_has_exactly_the_size_asked_for(size_bytes: int) -> None:
    batch = a_batch(size_bytes=size_bytes)
    assert len(batch) == size_bytes
    assert crc_holds(batch, parse_header(batch))
