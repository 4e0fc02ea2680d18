"""Replaying an internal partition's log into a state machine, without keeping the loop from others.

The log is read in pieces, by a thread. Each piece is applied in slices of some hundred records, one
a turn of the loop.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from kwire.codec.primitives import MalformedMessage
from kwire.codec.records.batch import each_batch
from kwire.codec.records.control import read_marker
from kwire.codec.records.record import each_record
from kwire.coordinator.decision import NO_PRODUCER, StoredRecord
from kwire.coordinator.shard import Machine
from kwire.errors import KwireError
from kwire.log.file_slice import FileSlice
from kwire.log.partition_log import PartitionLog
from kwire.tasks import Scheduler

SLICE_RECORDS = 200


class Loading:
    """One replay of one log, from its start to `end_offset`; `done` is called once."""

    def __init__(
        self,
        log: PartitionLog,
        end_offset: int,
        machine: Machine,
        *,
        piece_bytes: int,
        scheduler: Scheduler,
        done: Callable[[Exception | None], None],
    ) -> None:
        self._log = log
        self._end_offset = end_offset
        self._machine = machine
        self._piece_bytes = piece_bytes
        self._scheduler = scheduler
        self._done = done
        self._offset = log.log_start_offset
        self._steps: Iterator[None] = iter(())

    def start(self) -> None:
        self._read()

    def _read(self) -> None:
        try:
            piece = self._log.read(self._offset, self._piece_bytes, end_offset=self._end_offset)
        except KwireError as error:
            self._done(error)
            return
        if piece is None:
            self._done(None)
            return
        piece.hold()
        self._scheduler.in_pool(piece.read, lambda outcome: self._loaded(piece, outcome))

    def _loaded(self, piece: FileSlice, outcome: bytes | Exception) -> None:
        piece.release()
        if isinstance(outcome, Exception):
            self._done(outcome)
            return
        self._steps = self._replay(outcome)
        self._apply_slice()

    def _apply_slice(self) -> None:
        try:
            count = sum(1 for _ in islice(self._steps, SLICE_RECORDS))
        except (KwireError, MalformedMessage) as error:
            self._done(error)
            return
        if count == SLICE_RECORDS:
            self._scheduler.call_soon(self._apply_slice)
        else:
            self._read()

    def _replay(self, piece: bytes) -> Iterator[None]:
        """Apply each record of a piece; yields after each, so that the caller can pause."""
        for position, header in each_batch(piece):
            batch = memoryview(piece)[position : position + header.size_bytes]
            if header.is_control:
                marker = read_marker(batch, header)
                self._machine.end_transaction(header.producer_id, is_committed=not marker.is_abort)
            else:
                producer_id = header.producer_id if header.is_transactional else NO_PRODUCER
                for record in each_record(batch, header):
                    if record.key is not None and record.offset >= self._offset:
                        self._machine.apply(
                            StoredRecord(record.key, record.value, record.offset, producer_id)
                        )
                    yield
            self._offset = header.next_offset
