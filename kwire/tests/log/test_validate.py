"""Which batches a producer may write, and with which error the others are refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.records.batch import (
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    crc_holds,
    parse_header,
    rewrite_crc,
    write_header,
)
from kwire.config.topic import TopicConfig
from kwire.errors import (
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    KwireError,
    MessageTooLarge,
    RecordListTooLarge,
    UnsupportedCompressionType,
)
from kwire.log.validate import Checked, check_batches
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record, some_records

PLAIN = TopicConfig()
NEWEST_VERSION = 13
FIELDS = (
    "attributes",
    "base_offset",
    "base_sequence",
    "last_offset_delta",
    "magic",
    "producer_id",
    "records_count",
)


def check(
    batch: bytes | bytearray | memoryview,
    config: TopicConfig = PLAIN,
    *,
    version: int = NEWEST_VERSION,
) -> Checked:
    return check_batches(
        memoryview(batch), config, now_ms=A_TIMESTAMP + 10, produce_version=version
    )


def changed(batch: bytearray, **fields: int) -> bytearray:
    """The batch with other header fields, and a checksum that is true for them."""
    write_header(batch, parse_header(batch)._replace(**fields))
    rewrite_crc(batch)
    return batch


def test_a_sound_batch_passes_as_it_is() -> None:
    batch = a_batch(3)
    checked = check(batch)
    assert checked == (batch, parse_header(batch), -1)


def test_a_sound_batch_is_not_copied() -> None:
    batch = a_batch(3)
    stored = check(batch).batch
    assert isinstance(stored, memoryview)
    assert stored.obj is batch


def test_an_idempotent_and_a_transactional_batch_pass() -> None:
    check(a_batch(3, producer_id=7, producer_epoch=0, base_sequence=0))
    check(a_batch(3, producer_id=7, producer_epoch=0, base_sequence=5, transactional=True))


@pytest.mark.parametrize("count", [0, 11, 16])
def test_no_batch_at_all_is_an_invalid_record(count: int) -> None:
    with pytest.raises(InvalidRecord, match="must bring one"):
        check(bytes(a_batch(1))[:count])
    with pytest.raises(InvalidRecord, match="must bring one"):
        check_batches(None, PLAIN, now_ms=0, produce_version=NEWEST_VERSION)


def test_a_batch_that_is_cut_off_is_an_invalid_record() -> None:
    with pytest.raises(InvalidRecord, match="must bring one"):
        check(a_batch(3)[:-1])


def test_two_batches_are_an_invalid_record() -> None:
    with pytest.raises(InvalidRecord, match="only bring one"):
        check(a_batch(1) + a_batch(1))


def test_the_beginning_of_a_second_batch_is_cut_off() -> None:
    batch = a_batch(2)
    checked = check(batch + a_batch(1)[:40])
    assert checked.batch == batch


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_sets_are_an_invalid_record(magic: int) -> None:
    with pytest.raises(InvalidRecord, match="magic 2"):
        check(changed(a_batch(1), magic=magic))


def test_a_magic_of_the_future_is_corrupt() -> None:
    with pytest.raises(CorruptMessage):
        check(changed(a_batch(1), magic=3))


@pytest.mark.parametrize("length", [-1, 0, 13])
def test_a_length_that_no_batch_can_have_is_corrupt(length: int) -> None:
    batch = a_batch(1)
    write_header(batch, parse_header(batch)._replace(batch_length=length))
    with pytest.raises(CorruptMessage):
        check(batch)


def test_a_batch_shorter_than_its_header_is_corrupt() -> None:
    batch = bytearray(a_batch(1)[:40])
    batch[8:12] = (28).to_bytes(4, "big")
    with pytest.raises(CorruptMessage):
        check(batch)


@pytest.mark.parametrize("at", [17, 21, 40, HEADER_BYTES, -1])
def test_a_flipped_bit_is_corrupt(at: int) -> None:
    batch = a_batch(3)
    batch[at] ^= 1
    with pytest.raises(CorruptMessage):
        check(batch)


@pytest.mark.parametrize(
    "fields",
    [
        {"base_offset": 1},
        {"records_count": 0},
        {"records_count": -1},
        {"records_count": 2},
        {"records_count": 4, "last_offset_delta": 3},
        {"last_offset_delta": 1},
        {"last_offset_delta": -1},
        {"records_count": 2**31 - 1, "last_offset_delta": 2**31 - 2},
        {"attributes": CONTROL},
        {"attributes": TRANSACTIONAL},
        {"producer_id": 5, "producer_epoch": 0},
        {"producer_id": 5, "producer_epoch": 0, "base_sequence": -2},
    ],
)
def test_a_header_that_contradicts_itself_is_an_invalid_record(fields: dict[str, int]) -> None:
    with pytest.raises(InvalidRecord):
        check(changed(a_batch(3), **fields))


def test_garbage_under_a_true_checksum_is_an_invalid_record() -> None:
    batch = a_batch(2)
    batch[HEADER_BYTES:] = b"\xff" * (len(batch) - HEADER_BYTES)
    rewrite_crc(batch)
    with pytest.raises(InvalidRecord):
        check(batch)


def test_a_batch_of_the_largest_size_passes_and_one_byte_more_does_not() -> None:
    config = replace(PLAIN, max_message_bytes=300)
    check(a_batch(1, size_bytes=300), config)
    with pytest.raises(MessageTooLarge):
        check(a_batch(1, size_bytes=301), config)


def test_size_is_refused_before_the_checksum_is_counted() -> None:
    batch = a_batch(1, size_bytes=301)
    batch[-1] ^= 1
    with pytest.raises(MessageTooLarge):
        check(batch, replace(PLAIN, max_message_bytes=300))


def test_a_batch_larger_than_a_segment_is_refused() -> None:
    with pytest.raises(RecordListTooLarge):
        check(a_batch(1, size_bytes=301), replace(PLAIN, segment_bytes=300))


def test_zstd_is_for_newer_producers() -> None:
    batch = a_batch(1)
    batch[HEADER_BYTES:] = b"\x28\xb5\x2f\xfd" + b"." * (len(batch) - HEADER_BYTES - 4)
    changed(batch, attributes=4)
    with pytest.raises(UnsupportedCompressionType):
        check(batch, version=6)
    assert check(batch, version=7).header.codec == 4


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_refused(codec: int) -> None:
    with pytest.raises(UnsupportedCompressionType):
        check(changed(a_batch(1), attributes=codec))


@pytest.mark.parametrize("codec", [1, 3, 4])
def test_a_block_without_its_codecs_signature_is_an_invalid_record(codec: int) -> None:
    with pytest.raises(InvalidRecord):
        check(changed(a_batch(1), attributes=codec))


def test_log_append_time_is_stamped_in_place() -> None:
    batch = a_batch(3)
    checked = check(batch, replace(PLAIN, message_timestamp_type="LogAppendTime"))
    assert checked.log_append_time_ms == checked.header.max_timestamp == A_TIMESTAMP + 10
    assert checked.header.is_log_append_time
    assert crc_holds(batch, checked.header)
    assert checked.batch.obj is batch  # type: ignore[union-attr]  # a view, not a copy


def test_log_append_time_is_not_for_producers_to_claim() -> None:
    batch = changed(a_batch(3), attributes=LOG_APPEND_TIME)
    with pytest.raises(InvalidTimestamp):
        check(batch, replace(PLAIN, message_timestamp_type="LogAppendTime"))


@given(st.data())
def test_what_the_quick_lane_takes_the_careful_lane_takes_unchanged(data: st.DataObject) -> None:
    """A finite but endless limit on the age of records keeps a batch out of the quick lane."""
    careful = replace(PLAIN, message_timestamp_before_max_ms=2**62)
    batch = _any_batch(data)
    assert _outcome(batch, PLAIN) == _outcome(batch, careful)


def _any_batch(data: st.DataObject) -> bytearray:
    batch = a_batch(some_records(data.draw(st.integers(1, 4))))
    field = data.draw(st.sampled_from(["nothing", *FIELDS]))
    if field != "nothing":
        number = data.draw(st.integers(-2, 127))
        changed(batch, **{field: number & ~0b1111 if field == "attributes" else number})
    return batch


def _outcome(batch: bytearray, config: TopicConfig) -> object:
    try:
        checked = check(bytearray(batch), config)
    except KwireError as error:
        return error.code
    return bytes(checked.batch), checked.header


def test_records_without_a_key_pass_on_an_ordinary_topic() -> None:
    check(a_batch([a_record(0, key=None), a_record(1, value=None)]))
