"""What compaction leaves of single batches."""

from collections.abc import Mapping

import pytest

from kwire.codec.records.batch import parse_header
from kwire.codec.records.builder import build_batch
from kwire.codec.records.crc import Buffer
from kwire.codec.records.record import Record, each_record
from kwire.errors import CorruptMessage
from kwire.log.batch_filter import BatchFilter, LastOfProducer, TransactionTrail
from kwire.log.key_map import KeyMap
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record

NOW = A_TIMESTAMP + 1000


def a_filter(
    newest: Mapping[bytes, int], producers: Mapping[int, LastOfProducer] | None = None
) -> BatchFilter:
    keys = KeyMap(limit_bytes=1_000_000)
    for key, offset in newest.items():
        keys.put(key, offset)
    keys.latest_offset = max(newest.values(), default=-1)
    trail = TransactionTrail([])
    return BatchFilter(keys, trail, producers or {}, now_ms=NOW, delete_retention_ms=500)


def records(*pairs: tuple[bytes, bytes | None]) -> list[Record]:
    return [a_record(delta, key=key, value=value) for delta, (key, value) in enumerate(pairs)]


def left_of(filter_: BatchFilter, batch: Buffer, *, is_last: bool = False) -> Buffer | None:
    return filter_.survivor(batch, parse_header(batch), is_last=is_last)


def test_a_batch_of_which_all_stays_stays_the_same_bytes() -> None:
    batch = a_batch(records((b"a", b"1"), (b"b", b"2")))
    assert left_of(a_filter({b"a": 0, b"b": 1}), batch) is batch


@pytest.mark.parametrize("codec", range(5))
def test_what_is_left_keeps_offsets_sequence_and_codec(codec: int) -> None:
    pairs = ((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", b"4"))
    batch = build_batch(
        records(*pairs), codec=codec, producer_id=5, producer_epoch=1, base_sequence=7
    )
    left = left_of(a_filter({b"a": 2, b"b": 1, b"c": 9}), batch)
    assert left is not None
    header = parse_header(left)
    assert [(r.offset, r.key) for r in each_record(left, header)] == [(1, b"b"), (2, b"a")]
    assert (header.base_offset, header.last_offset, header.codec) == (0, 3, codec)
    assert (header.producer_id, header.base_sequence, header.last_sequence) == (5, 7, 10)


def test_nothing_is_left_of_a_batch_whose_keys_were_all_written_again() -> None:
    batch = a_batch(records((b"a", b"1")))
    assert left_of(a_filter({b"a": 7}), batch) is None


def test_a_bare_header_is_left_where_it_alone_tells_something() -> None:
    batch = a_batch(records((b"a", b"1")), producer_id=5, producer_epoch=0, base_sequence=3)
    as_last_of_producer = left_of(a_filter({b"a": 7}, {5: LastOfProducer(0, 0)}), batch)
    as_last_of_segment = left_of(a_filter({b"a": 7}), batch, is_last=True)
    for bare in (as_last_of_producer, as_last_of_segment):
        assert bare is not None
        header = parse_header(bare)
        assert (len(bare), header.records_count, header.last_sequence) == (61, 0, 3)
        assert list(each_record(bare, header)) == []
    assert left_of(a_filter({b"a": 7}, {5: LastOfProducer(0, 4)}), batch) is None


def test_a_tombstone_gets_the_time_it_may_go_and_then_goes() -> None:
    batch = a_batch(records((b"a", None), (b"b", b"2")))
    filter_ = a_filter({b"a": 0, b"b": 1})
    first = left_of(filter_, batch)
    assert first is not None
    assert parse_header(first).delete_horizon_ms == NOW + 500
    assert left_of(filter_, first) is first
    expired = build_batch(records((b"a", None), (b"b", b"2")), delete_horizon_ms=NOW)
    left = left_of(filter_, expired)
    assert left is not None
    assert [record.key for record in each_record(left, parse_header(left))] == [b"b"]


def test_records_above_what_the_map_has_seen_stay() -> None:
    batch = a_batch(records((b"a", b"1"), (b"a", b"2")))
    assert left_of(a_filter({}), batch) is batch


def test_a_damaged_batch_stops_the_round() -> None:
    batch = a_batch(records((b"a", b"1")))
    batch[-1] ^= 1
    with pytest.raises(CorruptMessage):
        left_of(a_filter({b"a": 0}), batch)
