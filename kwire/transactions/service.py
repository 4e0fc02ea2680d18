"""Transactions as handlers see them: one door to all shards of this broker.

Refusals come as values, like answers: a command may be refused long after it was given. What
decides them is imported with the first shard: most brokers start without any transaction.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kwire.clock import Clock
from kwire.config.broker import BrokerConfig
from kwire.controller.commands import NewTopic
from kwire.controller.controller import Controller
from kwire.controller.image import ImageChange
from kwire.controller.producer_ids import ProducerIds
from kwire.coordinator.decision import Asker, TransactionEnd
from kwire.coordinator.runtime import Runtime
from kwire.errors import (
    CoordinatorLoadInProgress,
    ErrorCode,
    InvalidRequest,
    InvalidTransactionTimeout,
    KwireError,
    NotCoordinator,
)
from kwire.log.flush import GroupCommit
from kwire.replication.hosted import Hosted
from kwire.tasks import Later, Scheduler, all_of, now
from kwire.transactions.markers import Markers, Written
from kwire.types import TopicPartition

if TYPE_CHECKING:
    from kwire.transactions.commands import AddPartitions, EndTransaction, InitProducer
    from kwire.transactions.state import ProducerIdentity, Transaction
    from kwire.transactions.transactions import Transactions, WriteMarkers

TRANSACTIONS_TOPIC = "__transaction_state"
NO_COMPRESSION = 0

# A partition that is gone needs no marker, and one that a newer marker has reached needs no older.
_NEEDS_NO_MARKER = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
}

C = TypeVar("C", "InitProducer", "EndTransaction")

_log = logging.getLogger(__name__)


class TransactionService:
    def __init__(
        self,
        controller: Controller,
        hosted: Hosted,
        group_commit: GroupCommit,
        scheduler: Scheduler,
        clock: Clock,
        producer_ids: ProducerIds,
        markers: Markers,
    ) -> None:
        config = controller.layers.broker
        self._controller = controller
        self._hosted = hosted
        self._producer_ids = producer_ids
        self._markers = markers
        self.topic = _state_topic(config)
        """What is made when somebody first asks for a coordinator."""
        self._runtime = Runtime(
            self.topic,
            partial(_new_transactions, config, self._write_markers, producer_ids.stay_above),
            node_id=config.node_id,
            codec=NO_COMPRESSION,
            piece_bytes=config.transaction_state_log_load_buffer_size,
            controller=controller,
            hosted=hosted,
            group_commit=group_commit,
            scheduler=scheduler,
            clock=clock,
        )

    def start(self) -> None:
        """Read what the log knows, and follow the cluster from here on."""
        self._controller.subscribe(self._runtime.follow)
        self._runtime.follow(ImageChange(topics=tuple(self._controller.image.topics.values())))

    def stop(self) -> None:
        self._runtime.close()

    def coordinators_of(self, transactional_ids: Sequence[str]) -> Later[list[int] | KwireError]:
        """The brokers that coordinate the transactions of these ids."""
        return self._runtime.leaders_of(transactional_ids)

    def reading(self, transactional_id: str) -> "Transactions":
        """The state that an id is part of; refused where that is elsewhere, or not all there."""
        return self._runtime.shard_of(transactional_id).machine

    def reading_all(self) -> "Iterator[Transactions]":
        """The state of every transactional id that this broker coordinates."""
        for shard in self._runtime:
            yield shard.machine

    def init_producer(self, command: "InitProducer") -> "Later[ProducerIdentity | KwireError]":
        if not command.transactional_id:
            return now(InvalidRequest())
        longest_ms = self._controller.layers.broker.transaction_max_timeout_ms
        if not 0 < command.timeout_ms <= longest_ms:
            return now(InvalidTransactionTimeout())
        return self._submit_with_id(command)

    def add_partitions(self, command: "AddPartitions") -> Later[KwireError | None]:
        return self._submit(command)

    def missing(
        self, transactional_id: str, producer: "ProducerIdentity", wanted: Iterable[TopicPartition]
    ) -> frozenset[TopicPartition]:
        """Which of these partitions a producer's transaction does not write to; or a refusal."""
        if not transactional_id:
            raise InvalidRequest()
        return self.reading(transactional_id).missing(transactional_id, producer, wanted)

    def end(self, command: "EndTransaction") -> "Later[ProducerIdentity | KwireError]":
        return self._submit_with_id(command)

    def write_marker(self, end: TransactionEnd, where: TopicPartition, version: int) -> Written:
        """Write a marker that another coordinator, or an administrator, has decided on."""
        return self._markers.write(end, where, version)

    def _submit_with_id(self, command: C) -> "Later[ProducerIdentity | KwireError]":
        """Have a command carried out, with a new producer id if it turns out to need one."""
        from kwire.transactions.commands import NeedsProducerId

        answer: Later[ProducerIdentity | KwireError] = Later()

        def decided(outcome: "ProducerIdentity | KwireError") -> None:
            if isinstance(outcome, NeedsProducerId):
                self._producer_ids.next().then(given)
            else:
                answer.complete(outcome)

        def given(producer_id: int | KwireError) -> None:
            if isinstance(producer_id, KwireError):
                answer.complete(CoordinatorLoadInProgress())
            else:
                again = command._replace(new_producer_id=producer_id)
                self._submit(again).then(answer.complete)

        self._submit(command).then(decided)
        return answer

    def _submit(self, command: "InitProducer | AddPartitions | EndTransaction") -> Asker:
        if not command.transactional_id:
            return now(InvalidRequest())
        try:
            shard = self._runtime.shard_of(command.transactional_id)
        except KwireError as refusal:
            return now(refusal)
        return shard.submit(command)

    def _write_markers(self, ending: "Transaction", is_again: bool) -> None:
        """Tell every partition how a transaction ends, and its shard when all know."""
        write = self._markers.write_if_open if is_again else self._markers.write
        index = self._runtime.index_of(ending.transactional_id)
        try:
            coordinator_epoch = self._hosted.find(TRANSACTIONS_TOPIC, index).leader_epoch
        except KwireError as refusal:
            self._written(ending, [refusal])
            return
        end = TransactionEnd(
            ending.producer_id, ending.epoch, coordinator_epoch, is_commit=ending.is_commit
        )
        written = [write(end, where, ending.client_version) for where in sorted(ending.partitions)]
        all_of(written).then(partial(self._written, ending))

    def _written(self, ending: "Transaction", refusals: Sequence[KwireError | None]) -> None:
        from kwire.transactions.commands import MarkersMissing, MarkersWritten

        is_missing = any(
            refusal is not None and refusal.code not in _NEEDS_NO_MARKER for refusal in refusals
        )
        if is_missing:
            _log.debug("markers missing transactional_id=%s", ending.transactional_id)
        news = MarkersMissing if is_missing else MarkersWritten
        # Where this broker coordinates no longer, whoever does writes the markers again.
        with suppress(NotCoordinator):
            shard = self._runtime.shard_of(ending.transactional_id)
            shard.remind(news(ending.transactional_id, ending.identity))


def _new_transactions(
    config: BrokerConfig, write_markers: "WriteMarkers", see_id: Callable[[int], None]
) -> "Transactions":
    from kwire.transactions.transactions import Transactions

    return Transactions(config, write_markers, see_id)


def _state_topic(config: BrokerConfig) -> NewTopic:
    return NewTopic(
        TRANSACTIONS_TOPIC,
        partition_count=config.transaction_state_log_num_partitions,
        replication_factor=config.transaction_state_log_replication_factor,
        config={
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(config.transaction_state_log_min_isr),
            "segment.bytes": str(config.transaction_state_log_segment_bytes),
            "unclean.leader.election.enable": "false",
        },
    )
