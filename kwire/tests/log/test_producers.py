"""Sequences, epochs, transactions and snapshots of producers."""

import struct
from typing import Any

import pytest

from kwire.codec.records.batch import BatchHeader, parse_header
from kwire.codec.records.crc import crc32c
from kwire.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    KwireError,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from kwire.log.producers import MAX_SEQUENCE, Producers
from kwire.log.transaction_index import AbortedTxn
from kwire.tests.builders import a_batch


def header(
    sequence: int, count: int = 1, *, pid: int = 9, epoch: int = 0, **more: Any
) -> BatchHeader:
    producer: dict[str, Any] = {"producer_id": pid, "producer_epoch": epoch}
    return parse_header(a_batch(count, base_sequence=sequence, **producer, **more))


def send(producers: Producers, offset: int, sequence: int, count: int = 1, **more: Any) -> None:
    sent = header(sequence, count, **more)
    assert producers.check(sent) is None
    producers.update(sent, offset)


def end(producers: Producers, offset: int, *, pid: int = 9, epoch: int = 0, is_abort: bool) -> Any:
    marker = header(-1, pid=pid, epoch=epoch, transactional=True, control=True)
    return producers.end_transaction(marker, offset, coordinator_epoch=1, is_abort=is_abort)


def test_an_unknown_producer_may_start_anywhere() -> None:
    assert Producers().check(header(17)) is None


def test_the_last_five_batches_are_recognised_when_sent_again() -> None:
    producers = Producers()
    for number in range(6):
        send(producers, 10 * number, 3 * number, 3)
    for number in range(1, 6):
        again = producers.check(header(3 * number, 3))
        assert again is not None
        assert (again.base_offset, again.last_offset) == (10 * number, 10 * number + 2)
    with pytest.raises(OutOfOrderSequence):
        producers.check(header(0, 3))
    with pytest.raises(OutOfOrderSequence):
        producers.check(header(3, 2))


def test_a_gap_in_the_sequence_is_refused() -> None:
    producers = Producers()
    send(producers, 0, 0, 3)
    with pytest.raises(OutOfOrderSequence, match="sent sequence 4, expected 3"):
        producers.check(header(4))


def test_sequences_wrap_around() -> None:
    producers = Producers()
    send(producers, 0, MAX_SEQUENCE - 1, 4)
    send(producers, 4, 2)
    again = producers.check(header(MAX_SEQUENCE - 1, 4))
    assert again is not None
    assert again.base_offset == 0


def test_a_new_epoch_starts_at_zero_and_ends_the_old_one() -> None:
    producers = Producers()
    send(producers, 0, 0, 3)
    with pytest.raises(OutOfOrderSequence, match="starts at sequence 3"):
        producers.check(header(3, epoch=1))
    send(producers, 3, 0, epoch=1)
    with pytest.raises(InvalidProducerEpoch, match="has epoch 1 here"):
        producers.check(header(3))


def test_an_open_transaction_takes_only_transactional_batches() -> None:
    producers = Producers()
    send(producers, 0, 0, transactional=True)
    with pytest.raises(InvalidTxnState):
        producers.check(header(1))
    send(producers, 1, 1, transactional=True)
    end(producers, 2, is_abort=False)
    send(producers, 3, 2)


def test_the_oldest_open_transaction_is_where_readers_wait() -> None:
    producers = Producers()
    send(producers, 5, 0, pid=1, transactional=True)
    send(producers, 6, 0, pid=2, transactional=True)
    send(producers, 7, 1, pid=1, transactional=True)
    seen = [producers.first_open_offset]
    assert end(producers, 8, pid=1, is_abort=True) == AbortedTxn(1, 5, 8, 6)
    seen.append(producers.first_open_offset)
    assert end(producers, 9, pid=2, is_abort=True) == AbortedTxn(2, 6, 9, 10)
    seen.append(producers.first_open_offset)
    assert seen == [5, 6, None]
    assert end(producers, 10, pid=2, is_abort=True) is None


def test_a_marker_with_a_higher_epoch_fences_what_comes_late() -> None:
    producers = Producers()
    send(producers, 0, 0, transactional=True)
    end(producers, 1, epoch=1, is_abort=True)
    with pytest.raises(InvalidProducerEpoch):
        producers.check(header(1, transactional=True))
    assert producers.check(header(0, epoch=1, transactional=True)) is None


def test_silent_producers_are_forgotten_unless_their_transaction_is_open() -> None:
    producers = Producers()
    send(producers, 0, 0, pid=1, timestamp=1000)
    send(producers, 1, 0, pid=2, timestamp=1000, transactional=True)
    send(producers, 2, 0, pid=3, timestamp=1001)
    assert producers.expire(now_ms=1999, expiration_ms=1000) == 0
    assert producers.expire(now_ms=2000, expiration_ms=1000) == 1
    assert [producer_id for producer_id, _ in producers] == [2, 3]


def test_a_snapshot_has_kafkas_bytes() -> None:
    producers = Producers()
    send(producers, 40, 5, 3, pid=7, epoch=2, timestamp=1000, transactional=True)
    body = struct.pack(">i", 1) + struct.pack(">qhiqiqiq", 7, 2, 7, 42, 2, 1002, -1, 40)
    assert producers.encode() == struct.pack(">hI", 1, crc32c(body)) + body


def test_a_snapshot_brings_back_sequences_and_open_transactions() -> None:
    producers = Producers()
    send(producers, 40, 5, 3, pid=7, transactional=True)
    send(producers, 30, 0, pid=8, transactional=True)
    end(producers, 43, pid=9, is_abort=True)
    restored = Producers()
    assert restored.decode(producers.encode())
    assert restored.encode() == producers.encode()
    assert restored.first_open_offset == 30
    assert restored.check(header(5, 3, pid=7, transactional=True)) is not None
    assert restored.check(header(8, pid=7, transactional=True)) is None


def test_a_damaged_snapshot_is_refused_and_changes_nothing() -> None:
    producers = Producers()
    send(producers, 40, 5, 3)
    sound = producers.encode()
    for position in range(len(sound)):
        damaged = bytearray(sound)
        damaged[position] ^= 0x40
        assert not producers.decode(bytes(damaged))
    for length in range(len(sound)):
        assert not producers.decode(sound[:length])
    assert producers.encode() == sound


def test_a_coordinator_writes_for_a_producer_without_sequences() -> None:
    producers = Producers()
    send(producers, 0, 0, 2, transactional=True)
    for offset in (2, 3):
        send(producers, offset, -1, transactional=True)
    send(producers, 4, 2, transactional=True)
    assert producers.first_open_offset == 0
    end(producers, 5, epoch=1, is_abort=False)
    with pytest.raises(InvalidProducerEpoch):
        producers.check(header(-1, transactional=True))


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "refusal"),
    [
        (0, 1, InvalidProducerEpoch),
        (1, 0, TransactionCoordinatorFenced),
        (1, 1, None),
        (2, 2, None),
    ],
)
def test_a_marker_that_others_have_followed_on_is_refused(
    epoch: int, coordinator_epoch: int, refusal: type[KwireError] | None
) -> None:
    producers = Producers()
    end(producers, 0, epoch=1, is_abort=False)
    marker = header(-1, epoch=epoch, transactional=True, control=True)
    if refusal is None:
        producers.check_marker(marker, coordinator_epoch)
    else:
        with pytest.raises(refusal):
            producers.check_marker(marker, coordinator_epoch)


def test_the_first_marker_of_a_producer_may_have_any_epoch() -> None:
    Producers().check_marker(header(-1, epoch=3, transactional=True, control=True), 0)
