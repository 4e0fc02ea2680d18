"""What a log remembers of its producers: sequences against duplicates, and open transactions.

Per producer id: the epoch, the last five batches, the coordinator's epoch, and where its open
transaction began. File `<next offset>.snapshot`, big-endian: version i16 = 1, crc32c u32 over the
rest, count i32, and per producer: id i64, epoch i16, last sequence i32, last offset i64, offset
delta i32, timestamp i64, coordinator epoch i32, first offset of the open transaction i64 (or -1).
"""

import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kwire.codec.records.batch import TRANSACTIONAL, BatchHeader
from kwire.codec.records.crc import crc32c
from kwire.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from kwire.log.transaction_index import AbortedTxn

REMEMBERED_BATCHES = 5
MAX_SEQUENCE = 2**31 - 1
VERSION = 1

_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_new_tuple = tuple.__new__


class RememberedBatch(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def base_offset(self) -> int:
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        first = self.last_sequence - self.offset_delta
        return first if first >= 0 else first + MAX_SEQUENCE + 1


class Producer:
    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "next_sequence",
        "open_since",
    )

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[RememberedBatch] = deque(maxlen=REMEMBERED_BATCHES)
        self.next_sequence = 0
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.open_since = -1

    def start_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches.clear()
        self.next_sequence = 0


class Producers:
    def __init__(self) -> None:
        self._producers: dict[int, Producer] = {}
        # Open transactions in the order in which they began: the first value is the smallest.
        self._open: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._producers)

    def __iter__(self) -> Iterator[tuple[int, Producer]]:
        return iter(self._producers.items())

    @property
    def first_open_offset(self) -> int | None:
        """Where the oldest open transaction began; its readers must wait there."""
        return next(iter(self._open.values()), None)

    def get(self, producer_id: int) -> Producer | None:
        return self._producers.get(producer_id)

    def check_marker(self, header: BatchHeader, coordinator_epoch: int) -> None:
        """Refuse the marker of a coordinator that others have followed on."""
        known = self._producers.get(header.producer_id)
        if known is None:
            return
        if header.producer_epoch < known.epoch:
            raise InvalidProducerEpoch(
                f"producer {header.producer_id} has epoch {known.epoch} here,"
                f" the marker has {header.producer_epoch}"
            )
        if coordinator_epoch < known.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"the coordinator of producer {header.producer_id} has epoch"
                f" {known.coordinator_epoch} here, the marker has {coordinator_epoch}"
            )

    def check(self, header: BatchHeader) -> RememberedBatch | None:
        """The remembered batch if this is one sent again; raises if it may not follow."""
        known = self._producers.get(header.producer_id)
        if known is None:
            # Nothing is known, perhaps because retention removed it all: any sequence may start.
            return None
        if (
            header.producer_epoch == known.epoch
            and header.base_sequence == known.next_sequence
            and (known.open_since < 0 or header.attributes & TRANSACTIONAL)
        ):
            return None
        return _check_carefully(known, header)

    def update(self, header: BatchHeader, base_offset: int) -> None:
        """Remember a data batch that was appended at `base_offset`."""
        known = self._producers.get(header.producer_id)
        if known is None:
            known = self._producers[header.producer_id] = Producer(header.producer_epoch)
        elif known.epoch != header.producer_epoch:
            known.start_epoch(header.producer_epoch)
        timestamp = header.max_timestamp
        if header.base_sequence >= 0:
            delta = header.last_offset_delta
            last_sequence = (header.base_sequence + delta) & MAX_SEQUENCE
            known.batches.append(
                _new_tuple(RememberedBatch, (last_sequence, base_offset + delta, delta, timestamp))
            )
            known.next_sequence = (last_sequence + 1) & MAX_SEQUENCE
        known.last_timestamp = timestamp
        if header.attributes & TRANSACTIONAL and known.open_since < 0:
            known.open_since = self._open[header.producer_id] = base_offset

    def end_transaction(
        self, header: BatchHeader, offset: int, *, coordinator_epoch: int, is_abort: bool
    ) -> AbortedTxn | None:
        """A marker was appended at `offset`; returns the entry for the index if it aborts."""
        known = self._producers.get(header.producer_id)
        if known is None:
            known = self._producers[header.producer_id] = Producer(header.producer_epoch)
        elif known.epoch != header.producer_epoch:
            known.start_epoch(header.producer_epoch)
        known.coordinator_epoch = coordinator_epoch
        known.last_timestamp = header.max_timestamp
        first_offset, known.open_since = known.open_since, -1
        self._open.pop(header.producer_id, None)
        if first_offset < 0 or not is_abort:
            return None
        still_open = self.first_open_offset
        stable = offset + 1 if still_open is None else min(still_open, offset + 1)
        return AbortedTxn(header.producer_id, first_offset, offset, stable)

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget producers that were silent for so long, unless their transaction is open."""
        silent = [
            producer_id
            for producer_id, known in self._producers.items()
            if known.open_since < 0 and now_ms - known.last_timestamp >= expiration_ms
        ]
        for producer_id in silent:
            del self._producers[producer_id]
        return len(silent)

    def clear(self) -> None:
        self._producers.clear()
        self._open.clear()

    def encode(self) -> bytes:
        """The state as a snapshot file holds it."""
        entries = [_entry_of(producer_id, known) for producer_id, known in self]
        body = _COUNT.pack(len(entries)) + b"".join(entries)
        return _HEAD.pack(VERSION, crc32c(body)) + body

    def decode(self, data: bytes) -> bool:
        """Take over a snapshot; false, and nothing changed, when it is damaged."""
        if len(data) < _HEAD.size + _COUNT.size:
            return False
        version, crc = _HEAD.unpack_from(data)
        body = data[_HEAD.size :]
        count = _COUNT.unpack_from(body)[0]
        if version != VERSION or crc32c(body) != crc or len(body) != 4 + count * _ENTRY.size:
            return False
        self._producers = {
            fields[0]: _producer_of(*fields[1:]) for fields in _ENTRY.iter_unpack(body[4:])
        }
        opened = [(p.open_since, pid) for pid, p in self if p.open_since >= 0]
        self._open = {producer_id: offset for offset, producer_id in sorted(opened)}
        return True


def _check_carefully(known: Producer, header: BatchHeader) -> RememberedBatch | None:
    if header.base_sequence < 0 and header.producer_epoch >= known.epoch:
        # A coordinator writes for the producer, and numbers nothing: only the epoch counts.
        return None
    if header.producer_epoch == known.epoch:
        for batch in known.batches:
            if (
                batch.last_sequence == header.last_sequence
                and batch.first_sequence == header.base_sequence
            ):
                return batch
    elif header.producer_epoch < known.epoch:
        raise InvalidProducerEpoch(
            f"producer {header.producer_id} has epoch {known.epoch} here,"
            f" the batch has {header.producer_epoch}"
        )
    elif header.base_sequence != 0:
        raise OutOfOrderSequence(
            f"a new epoch of producer {header.producer_id} starts at sequence"
            f" {header.base_sequence}"
        )
    if header.producer_epoch == known.epoch and header.base_sequence != known.next_sequence:
        raise OutOfOrderSequence(
            f"producer {header.producer_id} sent sequence {header.base_sequence},"
            f" expected {known.next_sequence}"
        )
    if known.open_since >= 0 and not header.is_transactional:
        raise InvalidTxnState("expected a transactional write: a transaction is open")
    return None


def _entry_of(producer_id: int, known: Producer) -> bytes:
    batch = known.batches[-1] if known.batches else RememberedBatch(-1, -1, 0, known.last_timestamp)
    return _ENTRY.pack(
        producer_id,
        known.epoch,
        batch.last_sequence,
        batch.last_offset,
        batch.offset_delta,
        known.last_timestamp,
        known.coordinator_epoch,
        known.open_since,
    )


def _producer_of(
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    open_since: int,
) -> Producer:
    known = Producer(epoch)
    known.coordinator_epoch = coordinator_epoch
    known.last_timestamp = timestamp
    known.open_since = open_since
    if last_sequence >= 0:
        known.batches.append(RememberedBatch(last_sequence, last_offset, offset_delta, timestamp))
        known.next_sequence = (last_sequence + 1) & MAX_SEQUENCE
    return known
