"""The files that producers' state is kept in."""

import os
from pathlib import Path

from kwire.codec.records.batch import parse_header
from kwire.log.producers import Producers
from kwire.log.snapshots import Snapshots
from kwire.tests.builders import a_batch


def producers_of(*ids: int) -> Producers:
    made = Producers()
    for producer_id in ids:
        batch = a_batch(producer_id=producer_id, producer_epoch=0, base_sequence=0)
        made.update(parse_header(batch), producer_id)
    return made


def ids(producers: Producers) -> list[int]:
    return [producer_id for producer_id, _ in producers]


def test_the_newest_two_are_kept(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path))
    for offset in (0, 10, 20, 30):
        snapshots.save(producers_of(1), offset)
    assert snapshots.offsets == [20, 30]
    assert sorted(os.listdir(tmp_path)) == [
        "00000000000000000020.snapshot",
        "00000000000000000030.snapshot",
    ]


def test_the_newest_sound_one_up_to_an_offset_is_restored(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path))
    snapshots.save(producers_of(1), 10)
    snapshots.save(producers_of(1, 2), 20)
    restored = Producers()
    assert snapshots.restore(restored, 25) == 20
    assert ids(restored) == [1, 2]
    assert snapshots.restore(restored, 19) == 10
    assert ids(restored) == [1]
    assert snapshots.restore(restored, 9) is None
    (tmp_path / "00000000000000000020.snapshot").write_bytes(b"damaged")
    assert snapshots.restore(restored, 25) == 10


def test_those_above_an_offset_can_be_removed(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path))
    snapshots.save(producers_of(1), 10)
    snapshots.save(producers_of(1), 20)
    snapshots.drop_above(10)
    assert snapshots.offsets == [10]
    assert os.listdir(tmp_path) == ["00000000000000000010.snapshot"]
