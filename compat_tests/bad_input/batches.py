"""Rows of batches that lie, sent in otherwise honest Produce requests.

Where `kafka` is named, Kafka answers otherwise: mostly with -1, its word for a failure of its own.
"""

import gzip

import cramjam
import lz4.frame

from compat_tests.bad_input.rows import Ground, Row, both, error_of_produce, ours
from compat_tests.bad_input.wire import Batch, produce, record, varint

CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_REQUIRED_ACKS = 21
INVALID_TIMESTAMP = 32
UNSUPPORTED_COMPRESSION_TYPE = 76
INVALID_RECORD = 87

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
CONTROL = 32
HOUR_MS = 3_600_000
BOMB_BYTES = 200_000_000

WITHOUT_KEY = record(key=None)
TWO_RECORDS = record() + record(offset_delta=1)
XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


def _compress(codec: int, plain: bytes) -> bytes:
    if codec == GZIP:
        return gzip.compress(plain)
    if codec == SNAPPY:
        return bytes(cramjam.snappy.compress_raw(plain))
    if codec == LZ4:
        return bytes(lz4.frame.compress(plain))
    return bytes(cramjam.zstd.compress(plain))


def _to_plain(batch: Batch, expect: int, *, kafka: int | None = None) -> Row:
    def send(ground: Ground) -> bytes:
        return produce(ground.plain, batch.build(ground.now))

    return Row(send, expect, expect if kafka is None else kafka, error_of_produce)


def _to_compacted(batch: Batch, expect: int, *, kafka: int | None = None) -> Row:
    """To a topic on which records must be opened to see whether they have keys."""

    def send(ground: Ground) -> bytes:
        return produce(ground.compacted, batch.build(ground.now))

    return Row(send, expect, expect if kafka is None else kafka, error_of_produce)


def _bomb(codec: int, expect: int) -> Row:
    def send(ground: Ground) -> bytes:
        # One record whose value is all zeros: little on the wire, much in memory.
        honest = record(bytes(BOMB_BYTES))
        batch = Batch(_compress(codec, honest), attributes=codec)
        return produce(ground.compacted, batch.build(ground.now))

    return ours(send, expect, error_of_produce)


HEADER_LIES = {
    "a wrong checksum": _to_plain(Batch(crc=12345), CORRUPT_MESSAGE),
    "a size below the header's": _to_plain(Batch(length=10), CORRUPT_MESSAGE),
    "a size of zero": _to_plain(Batch(length=0), CORRUPT_MESSAGE),
    "a negative size": _to_plain(Batch(length=-1), CORRUPT_MESSAGE),
    "a size beyond its end": _to_plain(Batch(length=5000), INVALID_RECORD),
    "the greatest size": _to_plain(Batch(length=0x7FFFFFFF), INVALID_RECORD, kafka=-1),
    "magic 0": _to_plain(Batch(magic=0), INVALID_RECORD),
    "magic 1": _to_plain(Batch(magic=1), INVALID_RECORD),
    "magic 3": _to_plain(Batch(magic=3), CORRUPT_MESSAGE),
    "magic -1": _to_plain(Batch(magic=-1), CORRUPT_MESSAGE),
    "no records at all": _to_plain(Batch(payload=b"", records=0), INVALID_RECORD),
    "a count of zero": _to_plain(Batch(records=0), INVALID_RECORD),
    "a count of -1": _to_plain(Batch(records=-1), INVALID_RECORD),
    "a count of 2^31-1": _to_plain(Batch(records=0x7FFFFFFF), INVALID_RECORD),
    "a last offset that does not fit the count": _to_plain(
        Batch(last_offset_delta=5), INVALID_RECORD
    ),
    "a negative last offset": _to_plain(Batch(last_offset_delta=-1), INVALID_RECORD),
    "a base offset": _to_plain(Batch(base_offset=7), INVALID_RECORD),
    "a control batch": _to_plain(Batch(attributes=CONTROL), INVALID_RECORD),
    "a producer without a sequence": _to_plain(
        Batch(producer_id=5, producer_epoch=0), INVALID_RECORD
    ),
    "a sequence below -1": _to_plain(
        Batch(producer_id=5, producer_epoch=0, base_sequence=-7), INVALID_RECORD
    ),
    "an unknown codec": _to_plain(Batch(attributes=5), UNSUPPORTED_COMPRESSION_TYPE, kafka=-1),
    "the other unknown codec": _to_plain(
        Batch(attributes=7), UNSUPPORTED_COMPRESSION_TYPE, kafka=-1
    ),
}

RECORD_LIES = {
    "a record without a key on a compacted topic": _to_compacted(
        Batch(WITHOUT_KEY), INVALID_RECORD
    ),
    "a record that claims to be longer": _to_compacted(Batch(record(length=500)), INVALID_RECORD),
    "a record that claims to be shorter": _to_compacted(Batch(record(length=3)), INVALID_RECORD),
    "a record of negative length": _to_compacted(Batch(record(length=-5)), INVALID_RECORD),
    "a negative count of headers": _to_compacted(Batch(record(headers=varint(-1))), INVALID_RECORD),
    "more headers than bytes": _to_compacted(
        Batch(record(headers=varint(1_000_000))), INVALID_RECORD
    ),
    "a header without a name": _to_compacted(
        Batch(record(headers=varint(1) + varint(-1) + varint(-1))), INVALID_RECORD
    ),
    "fewer records than counted": _to_compacted(
        Batch(records=2, last_offset_delta=1), INVALID_RECORD
    ),
    "more records than counted": _to_compacted(Batch(TWO_RECORDS), INVALID_RECORD),
    "offsets that do not rise": _to_compacted(
        Batch(record() + record(), records=2, last_offset_delta=1), INVALID_RECORD, kafka=0
    ),
}

COMPRESSION = {
    "gzip that is none": _to_compacted(
        Batch(b"no gzip at all", attributes=GZIP), INVALID_RECORD, kafka=-1
    ),
    "snappy that is none": _to_compacted(
        Batch(b"\xff\xff\xff\xff\x0f", attributes=SNAPPY), INVALID_RECORD, kafka=-1
    ),
    "snappy with a block of 2^31-1 bytes": _to_compacted(
        Batch(XERIAL + b"\x7f\xff\xff\xff", attributes=SNAPPY), INVALID_RECORD, kafka=-1
    ),
    "snappy with a block of -1 bytes": _to_compacted(
        Batch(XERIAL + b"\xff\xff\xff\xff", attributes=SNAPPY), INVALID_RECORD, kafka=-1
    ),
    "lz4 that is none": _to_compacted(
        Batch(b"no lz4 at all", attributes=LZ4), INVALID_RECORD, kafka=-1
    ),
    "zstd that is none": _to_compacted(
        Batch(b"no zstd at all", attributes=ZSTD), INVALID_RECORD, kafka=-1
    ),
    "a bomb of gzip": _bomb(GZIP, INVALID_RECORD),
    "a bomb of snappy": _bomb(SNAPPY, MESSAGE_TOO_LARGE),
    "a bomb of lz4": _bomb(LZ4, INVALID_RECORD),
    "a bomb of zstd": _bomb(ZSTD, INVALID_RECORD),
}


def _two_batches(ground: Ground) -> bytes:
    return produce(ground.plain, Batch().build(ground.now) * 2)


def _timed(later_ms: int) -> Row:
    return both(
        lambda ground: produce(ground.timed, Batch(base_timestamp=later_ms).build(ground.now)),
        INVALID_TIMESTAMP,
        error_of_produce,
    )


REQUESTS = {
    "two batches at once": both(_two_batches, INVALID_RECORD, error_of_produce),
    "no batch": both(lambda ground: produce(ground.plain, b""), INVALID_RECORD, error_of_produce),
    # Kafka never answers this one.
    "null for a batch": ours(
        lambda ground: produce(ground.plain, None), INVALID_RECORD, error_of_produce
    ),
    "half a header": both(
        lambda ground: produce(ground.plain, Batch().build(ground.now)[:30]),
        INVALID_RECORD,
        error_of_produce,
    ),
    "a batch above the limit": _to_plain(Batch(record(bytes(1_100_000))), MESSAGE_TOO_LARGE),
    "a partition nobody has": both(
        lambda ground: produce(ground.plain, Batch().build(ground.now), partition=77),
        UNKNOWN_TOPIC_OR_PARTITION,
        error_of_produce,
    ),
    "a negative partition": both(
        lambda ground: produce(ground.plain, Batch().build(ground.now), partition=-1),
        UNKNOWN_TOPIC_OR_PARTITION,
        error_of_produce,
    ),
    "a topic outside of the directory": both(
        lambda ground: produce("../../outside", Batch().build(ground.now)),
        UNKNOWN_TOPIC_OR_PARTITION,
        error_of_produce,
    ),
    "acks of 7": both(
        lambda ground: produce(ground.plain, Batch().build(ground.now), acks=7),
        INVALID_REQUIRED_ACKS,
        error_of_produce,
    ),
    "a record of another day": _timed(-24 * HOUR_MS),
    "a record of tomorrow": _timed(24 * HOUR_MS),
}

TABLE: dict[str, Row] = {**HEADER_LIES, **RECORD_LIES, **COMPRESSION, **REQUESTS}
