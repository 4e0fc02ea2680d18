"""Records are opened as other writers meant them, and nothing in them is believed."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.records.batch import HEADER_BYTES, parse_header
from kwire.codec.records.builder import TimestampType, build_batch, encode_record, join_batch
from kwire.codec.records.compression import Codec, compress
from kwire.codec.records.record import MAX_UNPACKED_BYTES, Record, each_record, unpacked
from kwire.codec.records.varint import encode_varint
from kwire.errors import InvalidRecord, UnsupportedCompressionType
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record, some_records
from kwire.tests.codec.records.others import AiokafkaBuilder, KafkaPythonBuilder

BLOBS = st.none() | st.binary(max_size=60)
HEADERS = st.lists(st.tuples(st.text(max_size=9), BLOBS), max_size=3)
BODIES = st.lists(st.tuples(st.integers(0, 2**42), BLOBS, BLOBS, HEADERS), min_size=1, max_size=6)

SOUND = encode_record(a_record(), 0, A_TIMESTAMP)


def _read(batch: bytes | bytearray, **options: Any) -> list[Record]:
    return list(each_record(batch, parse_header(batch), **options))


def _batch_of(block: bytes, *, count: int = 1) -> bytearray:
    """A batch with a true checksum around any bytes."""
    header = parse_header(build_batch([a_record()]))
    return join_batch(header._replace(records_count=count), block)


def _record(body: bytes) -> bytes:
    return encode_varint(len(body)) + body


@pytest.mark.parametrize("writer", [KafkaPythonBuilder, AiokafkaBuilder])
@pytest.mark.parametrize("codec", Codec)
@settings(max_examples=20, derandomize=True, database=None, deadline=None)
@given(bodies=BODIES)
def test_what_other_writers_put_in_comes_out(writer: Any, codec: Codec, bodies: list[Any]) -> None:
    built = writer(
        magic=2,
        compression_type=codec,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1_000_000,
    )
    for offset, (timestamp, key, value, headers) in enumerate(bodies):
        built.append(offset, timestamp, key, value, headers)
    expected = [
        Record(offset, timestamp, key, value, tuple(headers))
        for offset, (timestamp, key, value, headers) in enumerate(bodies)
    ]
    assert _read(bytes(built.build())) == expected


def test_offsets_are_counted_from_the_base_offset() -> None:
    batch = a_batch(some_records(3, base_offset=40), base_offset=40)
    assert [record.offset for record in _read(batch)] == [40, 41, 42]


def test_log_append_time_is_one_for_all_records() -> None:
    batch = build_batch(some_records(3), timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert {record.timestamp for record in _read(batch)} == {A_TIMESTAMP + 2}


def test_plain_records_are_not_copied() -> None:
    batch = a_batch(2)
    block = unpacked(batch, parse_header(batch))
    assert block.obj is batch
    assert len(block) == len(batch) - HEADER_BYTES


def test_what_follows_a_batch_in_the_buffer_is_not_read() -> None:
    batch = a_batch(2)
    assert _read(bytes(batch) + b"the next batch") == _read(batch)


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x80",
        SOUND[:-1],
        SOUND + b"\0",
        SOUND * 2,
        encode_varint(-1) + SOUND,
        encode_varint(2**31 - 1) + SOUND,
        encode_varint(len(SOUND) - 2) + SOUND[1:],
        _record(b"\0\0\0" + encode_varint(2**31 - 1) + b"\1\0"),
        _record(b"\0\0\0\1" + encode_varint(9) + b"\0"),
        _record(b"\0\0\0\1\1" + encode_varint(-1)),
        _record(b"\0\0\0\1\1" + encode_varint(2**31 - 1)),
        _record(b"\0\0\0\1\1" + encode_varint(1) + b"\1\1"),
        _record(b"\0\0\0\1\1" + encode_varint(1) + b"\2\xff\1"),
        _record(b"\0\0\0\1\1" + encode_varint(1) + b"\2a" + encode_varint(50)),
        _record(b"\0\0\0\1\1\0\0"),
        _record(b"\0" + b"\xff" * 10 + b"\1\0\1\1\0"),
        _record(b"\0\0" + b"\xff" * 5 + b"\1\1\1\0"),
    ],
)
def test_records_that_do_not_fit_together_are_refused(block: bytes) -> None:
    with pytest.raises(InvalidRecord):
        _read(_batch_of(block))


def test_more_records_than_bytes_end_at_the_last_byte() -> None:
    with pytest.raises(InvalidRecord, match="too early"):
        _read(_batch_of(SOUND, count=2**31 - 1))


def test_a_batch_that_says_it_is_empty_may_hold_nothing() -> None:
    assert _read(_batch_of(b"", count=0)) == []
    with pytest.raises(InvalidRecord, match="more bytes"):
        _read(_batch_of(SOUND, count=0))


@settings(max_examples=200, derandomize=True, database=None)
@given(data=st.data())
def test_changed_bytes_are_refused_and_nothing_worse(data: st.DataObject) -> None:
    record = a_record(headers=(("name", b"value"), ("other", None)))
    block = bytearray(encode_record(record, 0, A_TIMESTAMP) * 2)
    for _ in range(data.draw(st.integers(1, 3))):
        block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 255))
    with suppress(InvalidRecord):
        assert len(_read(_batch_of(bytes(block), count=2))) == 2


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_no_batch_unfolds_beyond_the_limit(codec: Codec) -> None:
    batch = build_batch([a_record(value=bytes(50_000))], codec=codec)
    assert len(_read(batch, limit=60_000)) == 1
    with pytest.raises(InvalidRecord, match="more than 40000 bytes"):
        _read(batch, limit=40_000)


def test_a_bomb_is_refused_by_whoever_opens_it() -> None:
    bomb = _batch_of(b"")
    bomb[HEADER_BYTES:] = compress(Codec.ZSTD, bytes(MAX_UNPACKED_BYTES + 1))
    header = parse_header(bomb)._replace(attributes=Codec.ZSTD, batch_length=len(bomb) - 12)
    assert len(bomb) < 20_000
    with pytest.raises(InvalidRecord, match="more than 134217728 bytes"):
        next(each_record(bomb, header))


def test_a_codec_that_does_not_exist_is_refused() -> None:
    batch = a_batch(1)
    batch[22] |= 5
    with pytest.raises(UnsupportedCompressionType):
        _read(batch)
