"""One partition as its leader serves it: a log, an epoch, the high watermark, and who waits.

On one node the leader is the whole in-sync set, so the high watermark follows the log's end with
each append. Readers never see past it; read_committed readers never past the last stable offset.
"""

from kwire.codec.records.batch import CONTROL, TRANSACTIONAL, BatchHeader, parse_header
from kwire.codec.records.control import read_marker
from kwire.controller.image import PartitionState
from kwire.errors import (
    FencedLeaderEpoch,
    NotEnoughReplicas,
    RecordListTooLarge,
    TransactionalIdAuthorizationFailed,
    UnknownLeaderEpoch,
)
from kwire.log.partition_log import Appended, PartitionLog
from kwire.log.validate import check_batches
from kwire.replication.waiters import WaitingFetch

ALL_IN_SYNC = -1


class Partition:
    __slots__ = (
        "_waiting",
        "high_watermark",
        "in_sync",
        "index",
        "leader",
        "leader_epoch",
        "log",
        "replicas",
        "topic",
        "topic_id",
    )

    def __init__(
        self,
        topic: str,
        topic_id: bytes,
        index: int,
        log: PartitionLog,
        *,
        leader: int,
        leader_epoch: int,
        replicas: tuple[int, ...],
        in_sync: tuple[int, ...],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.replicas = replicas
        self.in_sync = in_sync
        self.high_watermark = log.next_offset
        self._waiting: set[WaitingFetch] = set()

    def follow(self, state: PartitionState) -> None:
        """Take over what the controller decided; a new leadership is news for those who wait."""
        is_new_leadership = state.leader_epoch != self.leader_epoch
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.replicas = state.replicas
        self.in_sync = state.isr
        if is_new_leadership:
            self.wake()

    @property
    def last_stable_offset(self) -> int:
        """The first offset whose transaction is undecided, or the high watermark."""
        unstable = self.log.first_unstable_offset
        if unstable is None:
            return self.high_watermark
        return min(unstable, self.high_watermark)

    def readable_end(self, *, read_committed: bool) -> int:
        return self.last_stable_offset if read_committed else self.high_watermark

    def check_leader_epoch(self, epoch: int) -> None:
        """Refuse a client whose idea of the leadership is older or newer than ours (KIP-320)."""
        if epoch in (-1, self.leader_epoch):
            return
        raise FencedLeaderEpoch() if epoch < self.leader_epoch else UnknownLeaderEpoch()

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest epoch at or below `epoch`, and where it ended (KIP-101, KIP-279).

        Our own epoch counts before its first batch is in the log: it begins at the log's end.
        """
        epochs, end_offset = self.log.leader_epochs, self.log.next_offset
        if epoch == self.leader_epoch:
            return epoch, end_offset
        if epochs.latest < epoch < self.leader_epoch:
            return (epochs.latest if epochs.latest >= 0 else epoch), end_offset
        return epochs.end_offset_for(epoch, end_offset)

    def append(
        self,
        records: memoryview | None,
        *,
        acks: int,
        produce_version: int,
        now_ms: int,
        is_transactional: bool = False,
    ) -> Appended:
        """Check and write one client's batch, then wake whoever waits for it.

        Of a batch within a transaction the caller knows that its coordinator knows of it.
        """
        log = self.log
        if acks == ALL_IN_SYNC and len(self.in_sync) < min(
            log.config.min_insync_replicas, len(self.replicas)
        ):
            raise NotEnoughReplicas()
        checked = check_batches(records, log.config, now_ms=now_ms, produce_version=produce_version)
        if checked.header.attributes & TRANSACTIONAL and not is_transactional:
            # Nobody could end the transaction, and committed readers would wait for that forever.
            raise TransactionalIdAuthorizationFailed()
        return self._write(checked.batch, checked.header)

    def append_own(self, batch: bytearray) -> Appended:
        """Write a batch that this broker made itself, as coordinators do: it needs no check."""
        if len(batch) > self.log.config.max_message_bytes:
            raise RecordListTooLarge(f"a batch of {len(batch)} bytes for {self.topic}")
        header = parse_header(batch)
        if header.is_control:
            marker = read_marker(batch, header)
            self.log.producers.check_marker(header, marker.coordinator_epoch)
        return self._write(batch, header)

    def _write(self, batch: bytearray | memoryview, header: BatchHeader) -> Appended:
        appended = self.log.append(batch, header, leader_epoch=self.leader_epoch)
        self.high_watermark = self.log.next_offset
        if self._waiting and header.attributes & CONTROL:
            # The marker itself is small, but committed readers get all of the transaction with it.
            self.wake()
        elif self._waiting:
            size_bytes = header.batch_length + 12
            for waiting in list(self._waiting):
                waiting.grew(size_bytes)
        return appended

    def delete_records_before(self, offset: int) -> int:
        """Advance the log's start; returns where it is now."""
        low_watermark = self.log.delete_records_before(offset)
        self.wake()
        return low_watermark

    def watch(self, waiting: WaitingFetch) -> None:
        self._waiting.add(waiting)

    def unwatch(self, waiting: WaitingFetch) -> None:
        self._waiting.discard(waiting)

    def wake(self) -> None:
        """Something other than an append changed: those who wait must look again."""
        for waiting in list(self._waiting):
            waiting.changed()
