"""Segments are shown batch by batch, and every kind of damage is found at its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.cli.dump_items import Damage, Entry
from kwire.cli.dump_segment import dump_segment
from kwire.codec.records.batch import LENGTH_END, rewrite_crc
from kwire.codec.records.compression import Codec
from kwire.codec.records.control import marker_key, marker_value
from kwire.codec.records.record import Record
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record, some_records


def a_segment(directory: Path, *batches: bytes | bytearray, base_offset: int = 0) -> Path:
    path = directory / f"{base_offset:020}.log"
    path.write_bytes(b"".join(batches))
    return path


def entries(path: Path, *, deep: bool = False) -> list[Entry]:
    return [each for each in dump_segment(path, deep=deep) if isinstance(each, Entry)]


def damages(path: Path, *, deep: bool = False) -> list[Damage]:
    return [each for each in dump_segment(path, deep=deep) if isinstance(each, Damage)]


def test_a_batch_is_shown_with_its_header(tmp_path: Path) -> None:
    first = a_batch(2, base_offset=5, leader_epoch=3)
    second = a_batch(
        some_records(1, base_offset=7),
        base_offset=7,
        codec=Codec.LZ4,
        producer_id=9,
        producer_epoch=1,
        base_sequence=4,
        transactional=True,
    )
    path = a_segment(tmp_path, first, second, base_offset=5)
    one, other = entries(path)
    assert damages(path, deep=True) == []
    assert one.kind == "batch"
    assert one.fields["baseOffset"] == 5
    assert one.fields["lastOffset"] == 6
    assert one.fields["count"] == 2
    assert one.fields["partitionLeaderEpoch"] == 3
    assert one.fields["CreateTime"] == A_TIMESTAMP + 1
    assert one.fields["isvalid"] is True
    assert other.fields["position"] == len(first)
    assert other.fields["size"] == len(second)
    assert other.fields["compresscodec"] == "lz4"
    assert (other.fields["producerId"], other.fields["lastSequence"]) == (9, 4)
    assert other.fields["isTransactional"] is True


def test_deep_shows_the_records(tmp_path: Path) -> None:
    record = a_record(value=b"\xff", headers=(("a", b"1"), ("b", None)))
    batch = a_batch([record], producer_id=1, producer_epoch=0, base_sequence=6)
    _, shown = entries(a_segment(tmp_path, batch), deep=True)
    assert shown == Entry(
        "record",
        {
            "offset": 0,
            "CreateTime": A_TIMESTAMP,
            "keySize": 3,
            "valueSize": 1,
            "sequence": 6,
            "headerKeys": ["a", "b"],
            "key": "key",
            "payload": {"base64": "/w=="},
        },
    )


def test_a_marker_is_shown_as_what_it_ends(tmp_path: Path) -> None:
    marker = Record(0, A_TIMESTAMP, marker_key(is_abort=True), marker_value(12))
    batch = a_batch([marker], producer_id=1, producer_epoch=0, transactional=True, control=True)
    _, shown = entries(a_segment(tmp_path, batch), deep=True)
    assert shown.fields["endTxnMarker"] == "ABORT"
    assert shown.fields["coordinatorEpoch"] == 12


def test_news_of_kafkas_quorum_are_shown_by_their_number(tmp_path: Path) -> None:
    leader_change = Record(0, A_TIMESTAMP, b"\0\0\0\x02", b"\0\0")
    path = a_segment(tmp_path, a_batch([leader_change], control=True))
    _, shown = entries(path, deep=True)
    assert shown.fields["controlType"] == 2
    assert damages(path, deep=True) == []


def test_records_out_of_order_are_found(tmp_path: Path) -> None:
    batch = a_batch([a_record(0), a_record(0), a_record(1)])
    (found,) = damages(a_segment(tmp_path, batch), deep=True)
    assert found == Damage(0, 0, "the record's offset is out of order")


def test_a_changed_byte_is_found_and_the_batches_after_it_are_shown(tmp_path: Path) -> None:
    broken = a_batch(1, base_offset=1)
    broken[-1] ^= 1
    good = a_batch(1)
    path = a_segment(tmp_path, good, broken, a_batch(1, base_offset=2))
    assert damages(path) == [Damage(len(good), 1, "the checksum of the batch does not hold")]
    assert [each.fields["isvalid"] for each in entries(path)] == [True, False, True]


def cut(batch: bytearray) -> bytearray:
    return batch[:-1]


def cut_header(batch: bytearray) -> bytearray:
    return batch[:60]


def without_length(batch: bytearray) -> bytearray:
    batch[8:12] = (5).to_bytes(4, "big")
    return batch


def with_magic(number: int) -> Callable[[bytearray], bytearray]:
    def change(batch: bytearray) -> bytearray:
        batch[16] = number
        return batch

    return change


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (cut, "bytes is cut short"),
        (cut_header, "ends within its header"),
        (without_length, f"says it is {5 + LENGTH_END} bytes long"),
        (with_magic(1), "a message of format 1"),
        (with_magic(77), "a batch of magic 77"),
        (lambda batch: bytearray(len(batch)), "zeros instead of a batch"),
    ],
)
def test_what_is_no_whole_batch_ends_the_segment(
    tmp_path: Path, damage: Callable[[bytearray], bytearray], problem: str
) -> None:
    good = a_batch(3)
    path = a_segment(tmp_path, good, damage(a_batch(1, base_offset=3)))
    (found,) = damages(path)
    assert (found.position, found.offset) == (len(good), 3)
    assert problem in found.problem
    assert len(entries(path)) == 1


def test_offsets_that_go_back_are_found(tmp_path: Path) -> None:
    path = a_segment(tmp_path, a_batch(3), a_batch(1, base_offset=2))
    (found,) = damages(path)
    assert found.problem == "the batch begins at offset 2, expected 3 or more"


def test_a_batch_below_the_segments_own_offset_is_found(tmp_path: Path) -> None:
    (found,) = damages(a_segment(tmp_path, a_batch(1), base_offset=100))
    assert (found.position, found.offset) == (0, 0)


def test_gaps_are_what_compaction_leaves(tmp_path: Path) -> None:
    assert damages(a_segment(tmp_path, a_batch(1), a_batch(1, base_offset=50)), deep=True) == []


def test_records_that_do_not_open_are_found_only_when_looked_at(tmp_path: Path) -> None:
    batch = a_batch(2)
    batch[61] = 0x70
    rewrite_crc(batch)
    path = a_segment(tmp_path, batch)
    assert damages(path) == []
    (found,) = damages(path, deep=True)
    assert (found.position, found.offset) == (0, 0)


def test_an_empty_segment_is_fine(tmp_path: Path) -> None:
    assert list(dump_segment(a_segment(tmp_path), deep=True)) == []
