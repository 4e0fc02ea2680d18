"""A producer with transactions on a whole node, by requests as clients send them."""

from typing import Any

from kwire.codec.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kwire.codec.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kwire.codec.messages.end_txn import EndTxnRequest
from kwire.codec.messages.find_coordinator import FindCoordinatorRequest
from kwire.codec.messages.init_producer_id import InitProducerIdRequest
from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceTopic,
)
from kwire.codec.messages.txn_offset_commit import (
    TxnOffsetCommitPartition,
    TxnOffsetCommitRequest,
    TxnOffsetCommitTopic,
)
from kwire.errors import ErrorCode
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode

TRANSACTION = 1
OLD_PRODUCE = 9
NEW_PRODUCE = 12


class Producer:
    """Speaks version 1 of transactions, unless `is_new`."""

    def __init__(self, node: OpenNode, name: str = "tx", *, is_new: bool = False) -> None:
        self._node = node
        self.name = name
        self.is_new = is_new
        self.producer_id = self.epoch = -1
        self._sequences: dict[tuple[str, int], int] = {}

    def move_to(self, node: OpenNode) -> None:
        """Go on with another node, which knows what the one before did."""
        self._node = node

    def init(self, timeout_ms: int = 60_000, version: int = 4) -> ErrorCode:
        asked = FindCoordinatorRequest(key=self.name, key_type=TRANSACTION)
        self._node.ask(asked, 3)
        self._node.scheduler.end_turn()
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=timeout_ms
        )
        answer = self._node.ask(request, version)
        if answer.error_code == ErrorCode.NONE:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        return ErrorCode(answer.error_code)

    def add(self, topic: str = "orders", *partitions: int, version: int = 3) -> ErrorCode:
        wanted = AddPartitionsToTxnTopic(name=topic, partitions=list(partitions or (0,)))
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[wanted],
        )
        answer = self._node.ask(request, version)
        result = answer.results_by_topic_v3_and_below[0].results_by_partition[0]
        return ErrorCode(result.partition_error_code)

    def request(self, topic: str = "orders", partition: int = 0) -> ProduceRequest:
        """One record; a version 2 producer adds the partition with it."""
        where = (topic, partition)
        batch = a_batch(
            1,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get(where, 0),
            transactional=True,
        )
        data = ProducePartition(index=partition, records=memoryview(batch))
        wanted = ProduceTopic(name=topic, partition_data=[data])
        return ProduceRequest(acks=-1, transactional_id=self.name, topic_data=[wanted])

    def send(self, topic: str = "orders", partition: int = 0, version: int | None = None) -> Any:
        """Send a record; returns the error's code, or NONE."""
        chosen = (NEW_PRODUCE if self.is_new else OLD_PRODUCE) if version is None else version
        answer = self._node.ask(self.request(topic, partition), chosen)
        landed: ProducePartitionResponse = answer.responses[0].partition_responses[0]
        if landed.error_code == ErrorCode.NONE:
            where = (topic, partition)
            self._sequences[where] = self._sequences.get(where, 0) + 1
        return ErrorCode(landed.error_code)

    def begin(self, topic: str = "orders", *partitions: int) -> None:
        """Write a record to each partition, in one transaction."""
        if not self.is_new:
            assert self.add(topic, *partitions) == ErrorCode.NONE
        for partition in partitions or (0,):
            assert self.send(topic, partition) == ErrorCode.NONE

    def add_offsets(self, group: str, version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=group,
        )
        return ErrorCode(self._node.ask(request, version).error_code)

    def commit_offset(
        self, group: str, offset: int, *, topic: str = "orders", version: int = 5, **member: Any
    ) -> ErrorCode:
        position = TxnOffsetCommitPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitTopic(name=topic, partitions=[position])],
            **member,
        )
        answer = self._node.ask(request, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def end(self, *, is_commit: bool = True, version: int | None = None) -> ErrorCode:
        chosen = (5 if self.is_new else 3) if version is None else version
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=is_commit,
        )
        answer = self._node.ask(request, chosen)
        if answer.error_code == ErrorCode.NONE and chosen >= 5:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        return ErrorCode(answer.error_code)
