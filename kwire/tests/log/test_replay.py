"""Batches read again lead to the same producers as batches that were appended."""

from pathlib import Path

import pytest

from kwire.log.producers import Producers
from kwire.log.replay import restore
from kwire.log.snapshots import Snapshots
from kwire.tests.log.logs import append
from kwire.tests.log.test_recovery import filled


@pytest.mark.parametrize("seed", range(4))
def test_replaying_everything_gives_the_live_state(tmp_path: Path, seed: int) -> None:
    log = filled(tmp_path, seed).log
    again = Producers()
    restore(again, Snapshots("nowhere"), log.segments, log.next_offset)
    assert again.encode() == log.producers.encode()


@pytest.mark.parametrize("seed", range(4))
def test_a_snapshot_and_what_came_after_it_give_the_live_state(tmp_path: Path, seed: int) -> None:
    log = filled(tmp_path, seed).log
    assert len(log.snapshots.offsets) == 2
    again = Producers()
    restore(again, log.snapshots, log.segments, log.next_offset)
    assert again.encode() == log.producers.encode()


def test_the_state_as_of_an_offset_knows_nothing_of_what_follows(tmp_path: Path) -> None:
    log = filled(tmp_path, 1).log
    before, offset = log.producers.encode(), log.next_offset
    append(log, 3, producer_id=77, producer_epoch=0, base_sequence=0)
    again = Producers()
    restore(again, log.snapshots, log.segments, offset)
    assert again.encode() == before
