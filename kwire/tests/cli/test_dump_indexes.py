"""Indexes, snapshots and checkpoints are shown entry by entry, and doubted throughout."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.cli.dump_indexes import (
    dump_epochs,
    dump_offset_index,
    dump_offsets,
    dump_properties,
    dump_snapshot,
    dump_time_index,
    dump_transaction_index,
)
from kwire.cli.dump_items import Damage, Entry, Found
from kwire.codec.records.crc import crc32c
from kwire.tests.builders import a_batch

Dump = Callable[[Path], Found]


def fields(dump: Dump, path: Path) -> list[dict[str, object]]:
    return [dict(each.fields) for each in dump(path) if isinstance(each, Entry)]


def damages(dump: Dump, path: Path) -> list[Damage]:
    return [each for each in dump(path) if isinstance(each, Damage)]


def a_file(directory: Path, name: str, data: bytes | bytearray) -> Path:
    path = directory / name
    path.write_bytes(data)
    return path


def an_index(directory: Path, *numbers: int, base_offset: int = 100) -> Path:
    data = struct.pack(f">{len(numbers)}i", *numbers)
    return a_file(directory, f"{base_offset:020}.index", data)


def test_an_offset_index_is_shown_with_absolute_offsets(tmp_path: Path) -> None:
    first = a_batch(3, base_offset=100)
    a_file(tmp_path, f"{100:020}.log", first + a_batch(1, base_offset=103))
    path = an_index(tmp_path, 2, 0, 3, len(first))
    assert fields(dump_offset_index, path) == [
        {"offset": 102, "position": 0},
        {"offset": 103, "position": len(first)},
    ]
    assert damages(dump_offset_index, path) == []


def test_an_entry_that_points_to_no_batch_is_damage(tmp_path: Path) -> None:
    a_file(tmp_path, f"{100:020}.log", bytes(a_batch(3, base_offset=100)))
    (found,) = damages(dump_offset_index, an_index(tmp_path, 2, 0, 9, 17))
    assert found == Damage(8, 109, "no batch with that offset begins at 17")


def test_an_entry_that_points_behind_its_offset_is_damage(tmp_path: Path) -> None:
    first = a_batch(3, base_offset=100)
    a_file(tmp_path, f"{100:020}.log", first + a_batch(1, base_offset=103))
    (found,) = damages(dump_offset_index, an_index(tmp_path, 1, len(first)))
    assert (found.position, found.offset) == (0, 101)


def test_entries_must_rise(tmp_path: Path) -> None:
    assert damages(dump_offset_index, an_index(tmp_path, 5, 10, 4, 20)) == [
        Damage(8, 104, "entries do not rise")
    ]
    data = struct.pack(">qiqi", 1000, 1, 1000, 2)
    path = a_file(tmp_path, f"{100:020}.timeindex", data)
    assert damages(dump_time_index, path) == [Damage(12, 102, "entries do not rise")]


def test_room_taken_in_advance_is_no_damage(tmp_path: Path) -> None:
    assert list(dump_offset_index(an_index(tmp_path, 0, 0, 0, 0))) == []
    path = an_index(tmp_path, 5, 10, 0, 0, 0, 0)
    assert len(fields(dump_offset_index, path)) == 1
    assert damages(dump_offset_index, path) == []
    times = a_file(tmp_path, f"{100:020}.timeindex", struct.pack(">qiqi", 1000, 1, 0, 0))
    assert fields(dump_time_index, times) == [{"timestamp": 1000, "offset": 101}]
    assert damages(dump_time_index, times) == []


@pytest.mark.parametrize(
    ("name", "dump"),
    [
        (f"{0:020}.index", dump_offset_index),
        (f"{0:020}.timeindex", dump_time_index),
        (f"{0:020}.txnindex", dump_transaction_index),
    ],
)
def test_part_of_an_entry_is_damage(tmp_path: Path, name: str, dump: Dump) -> None:
    path = a_file(tmp_path, name, b"\0\0\0")
    assert damages(dump, path) == [Damage(0, None, "3 bytes are less than an entry")]


def test_aborted_transactions_are_shown(tmp_path: Path) -> None:
    data = struct.pack(">hqqqq", 0, 7, 10, 20, 15) + struct.pack(">hqqqq", 9, 7, 30, 40, 35)
    path = a_file(tmp_path, f"{0:020}.txnindex", data)
    assert fields(dump_transaction_index, path)[0] == {
        "version": 0,
        "producerId": 7,
        "firstOffset": 10,
        "lastOffset": 20,
        "lastStableOffset": 15,
    }
    assert damages(dump_transaction_index, path) == [
        Damage(34, 30, "this is no aborted transaction")
    ]


def a_snapshot(directory: Path, *, version: int = 1, count: int = 1, flip: int = 0) -> Path:
    body = struct.pack(">i", count) + struct.pack(">qhiqiqiq", 7, 1, 9, 100, 4, 1000, 3, -1)
    data = struct.pack(">hI", version, crc32c(body) ^ flip) + body
    return a_file(directory, f"{101:020}.snapshot", data)


def test_a_snapshot_is_shown_producer_by_producer(tmp_path: Path) -> None:
    assert fields(dump_snapshot, a_snapshot(tmp_path)) == [
        {
            "producerId": 7,
            "producerEpoch": 1,
            "coordinatorEpoch": 3,
            "currentTxnFirstOffset": None,
            "lastTimestamp": 1000,
            "firstSequence": 5,
            "lastSequence": 9,
            "lastOffset": 100,
            "offsetDelta": 4,
        }
    ]


def test_a_snapshot_that_cannot_be_right_is_damage(tmp_path: Path) -> None:
    problems = [
        damages(dump_snapshot, a_snapshot(tmp_path, flip=1))[0].problem,
        damages(dump_snapshot, a_snapshot(tmp_path, version=2))[0].problem,
        damages(dump_snapshot, a_snapshot(tmp_path, count=2))[0].problem,
        damages(dump_snapshot, a_file(tmp_path, "0.snapshot", b""))[0].problem,
    ]
    assert problems == [
        "the checksum of the snapshot does not hold",
        "a snapshot of version 2",
        "2 producers do not take 46 bytes",
        "the snapshot ends within its header",
    ]


def test_checkpoints_are_shown_line_by_line(tmp_path: Path) -> None:
    epochs = a_file(tmp_path, "leader-epoch-checkpoint", b"0\n2\n0 0\n3 17\n")
    assert fields(dump_epochs, epochs) == [
        {"epoch": 0, "startOffset": 0},
        {"epoch": 3, "startOffset": 17},
    ]
    offsets = a_file(tmp_path, "recovery-point-offset-checkpoint", b"0\n1\norders 2 17\n")
    assert fields(dump_offsets, offsets) == [{"topic": "orders", "partition": 2, "offset": 17}]
    assert damages(dump_epochs, epochs) + damages(dump_offsets, offsets) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"7", Damage(0, None, "a checkpoint begins with its version, 0, and a number of entries")),
        (b"0\n1\nbroken\n", Damage(4, None, "'broken' is no entry")),
        (b"0\n2\n0 0\n", Damage(0, None, "2 entries are announced, 1 are here")),
    ],
)
def test_a_checkpoint_that_cannot_be_right_is_damage(
    tmp_path: Path, text: bytes, expected: Damage
) -> None:
    path = a_file(tmp_path, "leader-epoch-checkpoint", text)
    assert damages(dump_epochs, path) == [expected]


def test_a_checkpoint_that_was_never_written_is_no_damage(tmp_path: Path) -> None:
    assert list(dump_offsets(a_file(tmp_path, "cleaner-offset-checkpoint", b""))) == []


def test_properties_are_shown_without_comments(tmp_path: Path) -> None:
    path = a_file(tmp_path, "meta.properties", b"#\n#Wed\nversion=0\nbroker.id=1\n")
    assert fields(dump_properties, path) == [{"version": "0"}, {"broker.id": "1"}]
    path = a_file(tmp_path, "partition.metadata", b"version: 0\ntopic_id: abc\nodd\n")
    assert fields(dump_properties, path) == [{"version": "0"}, {"topic_id": "abc"}]
    assert damages(dump_properties, path) == [Damage(25, None, "'odd' has no value")]
