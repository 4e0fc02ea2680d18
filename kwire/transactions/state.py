"""One transactional id: its producer, and how far its transaction is.

A value: each step makes a new one, which counts once the log has it. What a step may follow on is
for `transactions.py` and `ending.py` to decide.
"""

from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import NamedTuple

from kwire.codec.internal.transaction_state import (
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    StoredPartitions,
    TransactionLogValue,
)
from kwire.codec.primitives import MalformedMessage
from kwire.types import TopicPartition

NO_EPOCH = -1
LAST_EPOCH = 2**15 - 1
"""Left to the coordinator, so that it can always fence a producer that has the one before."""

VERSION_1 = 0
VERSION_2 = 2
"""Transactions that end with a new epoch (KIP-890), as the log tells them from older ones."""


class TransactionState(IntEnum):
    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def title(self) -> str:
        """How administrators know it: `PrepareCommit`."""
        return "".join(word.capitalize() for word in self.name.split("_"))


ENDING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
AT_REST = frozenset(
    {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
)


_STATES = frozenset(TransactionState)


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


class Transaction(NamedTuple):
    transactional_id: str
    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[TopicPartition]
    updated_ms: int
    started_ms: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    """What the producer was told to use from now on; it does when the transaction has ended."""
    client_version: int = VERSION_1

    @property
    def identity(self) -> ProducerIdentity:
        return ProducerIdentity(self.producer_id, self.epoch)

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer id has no epoch left that a client might use."""
        return is_exhausted(self.epoch)

    @property
    def is_commit(self) -> bool:
        """Of one that is ending: how."""
        return self.state is TransactionState.PREPARE_COMMIT

    def initialized(
        self, identity: ProducerIdentity, timeout_ms: int, now_ms: int
    ) -> "Transaction":
        """A producer starts, with this id and epoch."""
        return self._replace(
            producer_id=identity.producer_id,
            previous_producer_id=self.producer_id,
            next_producer_id=NO_PRODUCER_ID,
            epoch=identity.epoch,
            timeout_ms=timeout_ms,
            state=TransactionState.EMPTY,
            partitions=frozenset(),
            started_ms=NO_TIMESTAMP,
            updated_ms=now_ms,
        )

    def with_partitions(
        self, partitions: Iterable[TopicPartition], client_version: int, now_ms: int
    ) -> "Transaction":
        """The transaction writes to these too; the first ones begin it."""
        return self._replace(
            previous_producer_id=self.producer_id,
            state=TransactionState.ONGOING,
            partitions=self.partitions.union(partitions),
            started_ms=now_ms if self.state in AT_REST else self.started_ms,
            updated_ms=now_ms,
            client_version=client_version,
        )

    def ending(
        self, *, is_commit: bool, client_version: int, next_producer_id: int, now_ms: int
    ) -> "Transaction":
        """It is decided how the transaction ends; its markers can be written."""
        bumps_epoch = client_version >= VERSION_2 and self.epoch < LAST_EPOCH
        return self._replace(
            previous_producer_id=self.producer_id,
            next_producer_id=next_producer_id,
            epoch=self.epoch + 1 if bumps_epoch else self.epoch,
            state=TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT,
            started_ms=now_ms if self.state in AT_REST else self.started_ms,
            updated_ms=now_ms,
            client_version=client_version,
        )

    def ended(self, now_ms: int) -> "Transaction":
        """All markers are written."""
        is_commit = self.is_commit
        ended = self._replace(
            previous_producer_id=self.producer_id,
            state=TransactionState.COMPLETE_COMMIT
            if is_commit
            else TransactionState.COMPLETE_ABORT,
            partitions=frozenset(),
            updated_ms=now_ms,
        )
        if self.next_producer_id == NO_PRODUCER_ID:
            return ended
        return ended._replace(
            producer_id=self.next_producer_id, next_producer_id=NO_PRODUCER_ID, epoch=0
        )


def is_exhausted(epoch: int) -> bool:
    return epoch >= LAST_EPOCH - 1


def to_stored(one: Transaction) -> TransactionLogValue:
    is_empty = one.state is TransactionState.EMPTY
    return TransactionLogValue(
        producer_id=one.producer_id,
        previous_producer_id=one.previous_producer_id,
        next_producer_id=one.next_producer_id,
        producer_epoch=one.epoch,
        transaction_timeout_ms=one.timeout_ms,
        transaction_status=one.state,
        transaction_partitions=None if is_empty else _to_stored(one.partitions),
        transaction_last_update_timestamp_ms=one.updated_ms,
        transaction_start_timestamp_ms=one.started_ms,
        client_transaction_version=one.client_version,
    )


def from_stored(transactional_id: str, stored: TransactionLogValue) -> Transaction:
    if stored.transaction_status not in _STATES:
        raise MalformedMessage(f"{transactional_id} is in a state {stored.transaction_status}")
    return Transaction(
        transactional_id,
        stored.producer_id,
        stored.producer_epoch,
        stored.transaction_timeout_ms,
        TransactionState(stored.transaction_status),
        frozenset(
            TopicPartition(one.topic, index)
            for one in stored.transaction_partitions or ()
            for index in one.partition_ids
        ),
        stored.transaction_last_update_timestamp_ms,
        stored.transaction_start_timestamp_ms,
        stored.previous_producer_id,
        stored.next_producer_id,
        stored.client_transaction_version,
    )


def by_topic(partitions: Collection[TopicPartition]) -> dict[str, list[int]]:
    """The same partitions, in order, grouped as messages want them."""
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        topics.setdefault(topic, []).append(index)
    return topics


def _to_stored(partitions: Collection[TopicPartition]) -> list[StoredPartitions]:
    grouped = by_topic(partitions).items()
    return [StoredPartitions(topic=topic, partition_ids=indexes) for topic, indexes in grouped]
