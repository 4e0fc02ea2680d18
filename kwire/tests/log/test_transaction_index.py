"""The index of aborted transactions."""

import struct
from pathlib import Path

from kwire.log.transaction_index import AbortedTxn, TransactionIndex

ONE, TWO = AbortedTxn(7, 10, 19, 12), AbortedTxn(8, 12, 25, 26)


def index_at(path: Path) -> TransactionIndex:
    return TransactionIndex(str(path / "txnindex"))


def test_no_aborted_transaction_needs_no_file(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    assert index.entries() == []
    index.save()
    assert not (tmp_path / "txnindex").exists()
    assert index.is_sane(0, 100)


def test_the_file_has_kafkas_bytes(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    index.append(ONE)
    index.save()
    index.append(TWO)
    index.save()
    expected = struct.pack(">hqqqq", 0, *ONE) + struct.pack(">hqqqq", 0, *TWO)
    assert (tmp_path / "txnindex").read_bytes() == expected
    assert index_at(tmp_path).entries() == [ONE, TWO]


def test_transactions_that_ended_at_or_above_an_offset_can_be_cut_off(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    index.append(ONE)
    index.append(TWO)
    index.save()
    index.truncate_to(25)
    index.save()
    assert index_at(tmp_path).entries() == [ONE]


def test_a_file_that_cannot_be_right_is_told_from_a_sound_one(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    index.append(ONE)
    index.save()
    sound = (tmp_path / "txnindex").read_bytes()
    assert index_at(tmp_path).is_sane(0, 20)
    assert not index_at(tmp_path).is_sane(0, 19)
    assert not index_at(tmp_path).is_sane(20, 30)
    for damaged in (sound[:-1], b"\1\1" + sound[2:], struct.pack(">hqqqq", 0, 7, 20, 19, 12)):
        (tmp_path / "txnindex").write_bytes(damaged)
        assert not index_at(tmp_path).is_sane(0, 100)
