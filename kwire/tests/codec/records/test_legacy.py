"""Message sets as kafka-python and aiokafka write them are read, and live on as batches."""

import struct
import zlib
from typing import Any

import lz4.frame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.records.batch import crc_holds, parse_header
from kwire.codec.records.compression import Codec, compress
from kwire.codec.records.legacy import each_message, records_in, up_convert
from kwire.codec.records.record import Record, each_record
from kwire.errors import CorruptMessage, InvalidRecord, UnsupportedCompressionType
from kwire.tests.builders import A_TIMESTAMP
from kwire.tests.codec.records.others import AiokafkaLegacyBuilder, KafkaPythonLegacyBuilder

WRITERS = [KafkaPythonLegacyBuilder, AiokafkaLegacyBuilder]
LOG_APPEND_TIME = 8
FIRST_OFFSET = 1000

# kafka-python wants another package for the lz4 of magic 0, and aiokafka refuses it: see below.
WRITABLE = [
    (magic, codec)
    for magic in (0, 1)
    for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
    if (magic, codec) != (0, Codec.LZ4)
]

BLOBS = st.none() | st.binary(max_size=40)
BODIES = st.lists(st.tuples(st.integers(0, 2**42), BLOBS, BLOBS), min_size=1, max_size=5)


def _write(writer: Any, magic: int, codec: int, records: list[Record]) -> bytes:
    """A set in another library's bytes; a wrapper gets its offset as a broker would give it."""
    built = writer(magic, codec, 1_000_000)
    for index, record in enumerate(records):
        offset = index if magic and codec else record.offset
        built.append(offset, record.timestamp, record.key, record.value)
    written = bytearray(built.build())
    if codec:
        struct.pack_into(">q", written, 0, records[-1].offset)
    return bytes(written)


def _records(magic: int, bodies: list[Any]) -> list[Record]:
    return [
        Record(FIRST_OFFSET + index, timestamp if magic else -1, key, value)
        for index, (timestamp, key, value) in enumerate(bodies)
    ]


def _message(
    magic: int,
    value: bytes | None,
    *,
    attributes: int = 0,
    offset: int = FIRST_OFFSET,
    timestamp: int = A_TIMESTAMP,
) -> bytes:
    """One entry with a null key and a true checksum, by the letter of the format."""
    body = struct.pack(">bb", magic, attributes)
    body += struct.pack(">q", timestamp) if magic else b""
    body += struct.pack(">i", -1)
    body += struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def _read(message_set: bytes) -> list[Record]:
    return [record for message in each_message(message_set) for record in records_in(message)]


def _read_batches(batches: list[bytearray]) -> list[Record]:
    return [record for batch in batches for record in each_record(batch, parse_header(batch))]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("magic", "codec"), WRITABLE)
@settings(max_examples=25, derandomize=True, database=None, deadline=None)
@given(bodies=BODIES)
def test_records_come_out_as_they_went_in_and_stay_so_as_batches(
    writer: Any, magic: int, codec: Codec, bodies: list[Any]
) -> None:
    records = _records(magic, bodies)
    written = _write(writer, magic, codec, records)
    assert _read(written) == records
    (batch,) = up_convert(written)
    header = parse_header(batch)
    assert crc_holds(batch, header)
    assert (header.codec, header.base_offset) == (codec, FIRST_OFFSET)
    assert _read_batches([batch]) == records


@pytest.mark.parametrize("store_size", [False, True])
def test_lz4_of_magic_0_is_read_though_its_header_has_a_wrong_checksum(store_size: bool) -> None:
    inner = _message(0, b"old", offset=6) + _message(0, b"news", offset=7)
    frame = bytearray(lz4.frame.compress(inner, store_size=store_size))
    frame[14 if store_size else 6] ^= 0xFF
    wrapper = _message(0, bytes(frame), attributes=Codec.LZ4, offset=7)
    assert _read(wrapper) == [Record(6, -1, None, b"old"), Record(7, -1, None, b"news")]


def test_lz4_of_magic_1_must_have_a_true_checksum() -> None:
    frame = bytearray(lz4.frame.compress(_message(1, b"new"), store_size=False))
    frame[6] ^= 0xFF
    with pytest.raises(InvalidRecord):
        _read(_message(1, bytes(frame), attributes=Codec.LZ4))


def test_relative_offsets_may_start_anywhere_and_have_gaps() -> None:
    inner = _message(1, b"a", offset=5) + _message(1, b"b", offset=9)
    wrapper = _message(1, compress(Codec.GZIP, inner), attributes=Codec.GZIP, offset=500)
    assert [record.offset for record in _read(wrapper)] == [496, 500]
    (batch,) = up_convert(wrapper)
    assert (parse_header(batch).base_offset, parse_header(batch).last_offset) == (496, 500)


def test_offsets_inside_a_wrapper_of_magic_0_are_those_of_the_log() -> None:
    inner = _message(0, b"a", offset=5) + _message(0, b"b", offset=9)
    wrapper = _message(0, compress(Codec.GZIP, inner), attributes=Codec.GZIP, offset=500)
    assert [record.offset for record in _read(wrapper)] == [5, 9]


def test_log_append_time_is_that_of_the_wrapper() -> None:
    inner = _message(1, b"a", offset=0, timestamp=1) + _message(1, b"b", offset=1, timestamp=2)
    attributes = Codec.GZIP | LOG_APPEND_TIME
    wrapper = _message(1, compress(Codec.GZIP, inner), attributes=attributes, offset=1)
    assert [record.timestamp for record in _read(wrapper)] == [A_TIMESTAMP, A_TIMESTAMP]
    (batch,) = up_convert(wrapper)
    assert parse_header(batch).is_log_append_time
    assert [record.timestamp for record in _read_batches([batch])] == [A_TIMESTAMP, A_TIMESTAMP]


def test_neighbours_share_a_batch_only_if_nothing_of_them_is_lost() -> None:
    plain = [_message(0, b"a", offset=0), _message(1, b"b", offset=1)]
    stamped = [
        _message(1, b"c", offset=offset, attributes=LOG_APPEND_TIME, timestamp=timestamp)
        for offset, timestamp in [(2, 50), (3, 50), (4, 60)]
    ]
    message_set = b"".join(plain + stamped)
    batches = up_convert(message_set)
    assert [parse_header(batch).records_count for batch in batches] == [2, 2, 1]
    assert _read_batches(batches) == _read(message_set)


def test_nothing_becomes_no_batch() -> None:
    assert up_convert(b"") == []


def test_a_message_cut_off_at_the_end_is_left_out() -> None:
    whole = _message(1, b"whole", offset=0)
    message_set = whole + _message(1, b"cut", offset=1)
    for end in range(len(whole), len(message_set)):
        assert [message.value for message in each_message(message_set[:end])] == [b"whole"]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_changed_byte_is_noticed(magic: int) -> None:
    sound = _message(magic, b"value")
    for position in range(12, len(sound)):
        forged = bytearray(sound)
        forged[position] ^= 1
        with pytest.raises(CorruptMessage):
            _read(bytes(forged))


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 13])
def test_a_size_that_no_message_has_is_refused(size: int) -> None:
    with pytest.raises(CorruptMessage):
        _read(struct.pack(">qi", 0, size) + bytes(40))


@pytest.mark.parametrize("magic", [-1, 2])
def test_another_magic_is_refused(magic: int) -> None:
    with pytest.raises(InvalidRecord, match="magic"):
        _read(_message(magic, b"value"))


def _forged(body: bytes) -> bytes:
    return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize(
    "body",
    [
        struct.pack(">bbii", 0, 0, 1, -1),
        struct.pack(">bbii", 0, 0, 2**31 - 1, -1),
        struct.pack(">bbii", 0, 0, -1, 1),
        struct.pack(">bbiib", 0, 0, -1, -1, 7),
        struct.pack(">bbqi", 1, 0, 0, -1),
    ],
)
def test_lengths_that_do_not_fit_their_message_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        _read(_forged(body))


@pytest.mark.parametrize(
    "inner",
    [
        b"",
        _message(1, b"whole") + b"\0",
        _message(1, b"cut")[:-1],
        _message(0, b"another magic"),
        _message(1, compress(Codec.GZIP, _message(1, b"nested")), attributes=Codec.GZIP),
    ],
)
def test_a_wrapper_holds_whole_plain_messages_of_its_own_magic(inner: bytes) -> None:
    with pytest.raises(InvalidRecord):
        _read(_message(1, compress(Codec.GZIP, inner), attributes=Codec.GZIP))


def test_a_wrapper_without_a_value_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="empty"):
        _read(_message(1, None, attributes=Codec.GZIP))


@pytest.mark.parametrize("codec", [Codec.ZSTD, 5, 7])
def test_codecs_that_came_later_are_refused(codec: int) -> None:
    with pytest.raises(UnsupportedCompressionType):
        _read(_message(1, b"", attributes=codec))


def test_a_bomb_is_refused_at_the_limit() -> None:
    bomb = _message(1, compress(Codec.GZIP, bytes(1_000_000)), attributes=Codec.GZIP)
    (wrapper,) = each_message(bomb)
    with pytest.raises(InvalidRecord, match="more than 1000 bytes"):
        records_in(wrapper, limit=1000)


@pytest.mark.parametrize("offsets", [(5, 5), (5, 4), (0, 2**31)])
def test_offsets_that_no_batch_can_hold_are_refused(offsets: tuple[int, int]) -> None:
    message_set = b"".join(_message(1, b"", offset=offset) for offset in offsets)
    with pytest.raises(InvalidRecord, match="offsets"):
        up_convert(message_set)
