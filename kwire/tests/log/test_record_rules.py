"""Rules that need the records themselves, and batches that a topic stores in another way."""

from dataclasses import replace

import pytest

from kwire.codec.records.batch import (
    LOG_APPEND_TIME,
    crc_holds,
    parse_header,
    rewrite_crc,
    write_header,
)
from kwire.codec.records.record import each_record
from kwire.config.topic import TopicConfig
from kwire.errors import ErrorCode, InvalidRecord, InvalidTimestamp, MessageTooLarge
from kwire.log.record_rules import InvalidRecords, InvalidTimestamps
from kwire.log.validate import Checked, check_batches
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record, some_records

PLAIN = TopicConfig()
COMPACTED = replace(PLAIN, cleanup_policy=frozenset({"compact"}))
SOME_PROSE = b" ".join(b"%d bottles, %d of them empty" % (n * 37 % 101, n) for n in range(2000))
CODECS = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def check(batch: bytearray, config: TopicConfig, *, now_ms: int = A_TIMESTAMP) -> Checked:
    return check_batches(memoryview(batch), config, now_ms=now_ms, produce_version=13)


@pytest.mark.parametrize("codec", CODECS.values())
def test_a_compacted_topic_takes_no_record_without_a_key(codec: int) -> None:
    check(a_batch(3, codec=codec), COMPACTED)
    batch = a_batch([a_record(0), a_record(1, key=None), a_record(2, key=None)], codec=codec)
    with pytest.raises(InvalidRecords) as refused:
        check(batch, COMPACTED)
    assert refused.value.code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refused.value.record_errors] == [1, 2]


def test_a_record_far_ahead_of_time_is_named() -> None:
    records = [a_record(0), a_record(1, timestamp=A_TIMESTAMP + 3_600_001)]
    with pytest.raises(InvalidTimestamps) as refused:
        check(a_batch(records), PLAIN)
    assert refused.value.code == ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in refused.value.record_errors] == [1]
    check(a_batch(records), PLAIN, now_ms=A_TIMESTAMP + 1)


@pytest.mark.parametrize("codec", CODECS.values())
def test_a_record_too_far_back_in_time_is_named(codec: int) -> None:
    config = replace(PLAIN, message_timestamp_before_max_ms=1000)
    batch = a_batch([a_record(0), a_record(1, timestamp=A_TIMESTAMP - 1001)], codec=codec)
    with pytest.raises(InvalidTimestamps) as refused:
        check(batch, config)
    assert [error.batch_index for error in refused.value.record_errors] == [1]
    check(a_batch([a_record(0), a_record(1, timestamp=A_TIMESTAMP - 1000)], codec=codec), config)


def test_a_record_without_a_time_is_of_any_age() -> None:
    check(a_batch([a_record(timestamp=-1)]), replace(PLAIN, message_timestamp_before_max_ms=0))


def test_timestamps_do_not_matter_where_the_broker_sets_them() -> None:
    config = replace(PLAIN, message_timestamp_type="LogAppendTime")
    assert check(a_batch([a_record(timestamp=2**60)]), config).log_append_time_ms == A_TIMESTAMP


def test_a_time_that_no_number_can_hold_is_refused() -> None:
    batch = a_batch([a_record(0), a_record(1, timestamp=A_TIMESTAMP + 5)])
    write_header(batch, parse_header(batch)._replace(base_timestamp=2**63 - 1))
    rewrite_crc(batch)
    endless = replace(PLAIN, message_timestamp_after_max_ms=2**63 - 1)
    with pytest.raises(InvalidTimestamp):
        check(batch, replace(endless, message_timestamp_before_max_ms=2**62))


def test_a_header_that_lies_about_the_newest_time_is_put_right() -> None:
    batch = a_batch(3)
    write_header(batch, parse_header(batch)._replace(max_timestamp=2**60))
    rewrite_crc(batch)
    checked = check(batch, PLAIN)
    assert checked.header.max_timestamp == A_TIMESTAMP + 2
    assert crc_holds(checked.batch, checked.header)


def test_a_producers_claim_of_log_append_time_is_dropped_where_records_keep_their_time() -> None:
    batch = a_batch(3)
    write_header(batch, parse_header(batch)._replace(attributes=LOG_APPEND_TIME))
    rewrite_crc(batch)
    checked = check(batch, PLAIN)
    assert not checked.header.is_log_append_time
    assert crc_holds(checked.batch, checked.header)


@pytest.mark.parametrize("stored", CODECS)
@pytest.mark.parametrize("sent", CODECS.values())
def test_a_batch_is_stored_with_the_topics_codec(sent: int, stored: str) -> None:
    records = some_records(20, value_bytes=50)
    batch = a_batch(records, codec=sent, producer_id=3, producer_epoch=1, base_sequence=9)
    checked = check(batch, replace(PLAIN, compression_type=stored))
    assert checked.header.codec == CODECS[stored]
    assert checked.header.producer_id == 3
    assert checked.header.base_sequence == 9
    assert crc_holds(checked.batch, checked.header)
    assert list(each_record(checked.batch, checked.header)) == records
    assert (checked.batch == batch) == (sent == CODECS[stored])


@pytest.mark.parametrize(
    ("codec", "hardly", "hard"),
    [
        ("gzip", {"compression_gzip_level": 1}, {"compression_gzip_level": 9}),
        ("lz4", {"compression_lz4_level": 1}, {"compression_lz4_level": 17}),
        ("zstd", {"compression_zstd_level": -100}, {"compression_zstd_level": 19}),
    ],
)
def test_the_topic_says_how_hard_its_codec_tries(
    codec: str, hardly: dict[str, int], hard: dict[str, int]
) -> None:
    sizes = []
    for level in (hardly, hard):
        batch = a_batch([a_record(value=SOME_PROSE)])
        config = replace(PLAIN, compression_type=codec, **level)  # type: ignore[arg-type]  # ints
        sizes.append(check(batch, config).header.batch_length)
    assert sizes[0] > sizes[1]


def test_a_recompressed_batch_may_also_get_the_brokers_time() -> None:
    config = replace(PLAIN, compression_type="gzip", message_timestamp_type="LogAppendTime")
    checked = check(a_batch(20), config)
    assert checked.header.is_log_append_time
    assert {record.timestamp for record in each_record(checked.batch, checked.header)} == {
        A_TIMESTAMP
    }


def test_a_batch_that_grows_too_large_is_refused() -> None:
    batch = a_batch([a_record(value=b"x" * 5000)], codec=1)
    config = replace(PLAIN, compression_type="uncompressed", max_message_bytes=1000)
    with pytest.raises(MessageTooLarge):
        check(batch, config)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_block_that_cannot_be_decompressed_is_an_invalid_record(codec: int) -> None:
    batch = a_batch(20, codec=codec)
    batch[-30:] = b"\xff" * 30
    rewrite_crc(batch)
    with pytest.raises(InvalidRecord):
        check(batch, COMPACTED)
