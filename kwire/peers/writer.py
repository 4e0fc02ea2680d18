"""Appending to a topic as a client: batches, one at a time, repeated safely when a broker moves.

With acks=all the writer is idempotent: it has a producer id and numbers its records, so a batch
that is sent twice is stored once. With fewer acks a batch is sent once and may get lost, as asked.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from kwire.codec.apis import INIT_PRODUCER_ID, PRODUCE
from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopic,
)
from kwire.codec.records.builder import build_batch
from kwire.codec.records.record import Record
from kwire.errors import ErrorCode
from kwire.peers.client import PASSING, RETRY_PAUSE_S, Client
from kwire.peers.failures import Disconnected, Unreachable, check

ALL_REPLICAS = -1
LEADER_ONLY = 1
NO_ANSWER = 0

_SEQUENCES = 2**31


class ProducerId(NamedTuple):
    """Who writes, as brokers tell writers apart."""

    producer_id: int = -1
    epoch: int = -1


class Writer:
    """Appends to the partitions of one topic."""

    def __init__(
        self, client: Client, topic: str, *, acks: int = ALL_REPLICAS, codec: int = 0
    ) -> None:
        self._client = client
        self._acks = acks
        self._codec = codec
        self._topic = client.topic(topic, create=True)
        self._producer = self._new_producer() if acks == ALL_REPLICAS else ProducerId()
        self._next_sequences: dict[int, int] = {}

    @property
    def partitions(self) -> list[int]:
        return sorted(self._topic.leaders)

    def append(self, partition: int, records: Sequence[Record]) -> int | None:
        """Append one batch; the offset of its first record, or None where nobody tells.

        The records' offsets must count from 0: the broker gives them their place.
        """
        sequence = self._next_sequences.get(partition, 0) if self._is_idempotent else -1
        batch = build_batch(
            records,
            codec=self._codec,
            producer_id=self._producer.producer_id,
            producer_epoch=self._producer.epoch,
            base_sequence=sequence,
        )
        offset = self._produce(partition, memoryview(batch))
        if self._is_idempotent:
            self._next_sequences[partition] = (sequence + len(records)) % _SEQUENCES
        return offset

    @property
    def _is_idempotent(self) -> bool:
        return self._producer.producer_id >= 0

    def _produce(self, partition: int, batch: memoryview) -> int | None:
        deadline = time.monotonic() + self._client.timeout_s
        while True:
            may_repeat = self._is_idempotent and time.monotonic() < deadline
            try:
                answer = self._send(partition, batch)
            except (Disconnected, Unreachable):
                if not may_repeat:
                    raise
            else:
                if answer is None or answer.error_code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
                    return None
                if answer.error_code not in PASSING or time.monotonic() >= deadline:
                    where = f"topic {self._topic.name}, partition {partition}"
                    check(answer.error_code, _why(answer), what=where)
                    return answer.base_offset
            self._topic = self._client.topic_after_trouble(self._topic.name)

    def _send(self, partition: int, batch: memoryview) -> ProducePartitionResponse | None:
        """One attempt; None when no answer was asked for."""
        topic = ProduceTopic(
            name=self._topic.name,
            topic_id=self._topic.topic_id,
            partition_data=[ProducePartition(index=partition, records=batch)],
        )
        request = ProduceRequest(
            acks=self._acks, timeout_ms=self._client.timeout_ms, topic_data=[topic]
        )
        leader = self._topic.leaders[partition]
        if self._acks == NO_ANSWER:
            self._client.send_to_node(leader, PRODUCE, request)
            return None
        response: ProduceResponse = self._client.ask_node(
            leader, PRODUCE, request, wait_s=1.0, may_repeat=self._is_idempotent
        )
        return response.responses[0].partition_responses[0]

    def _new_producer(self) -> ProducerId:
        deadline = time.monotonic() + self._client.timeout_s
        request = InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=2**31 - 1,
            producer_id=-1,
            producer_epoch=-1,
        )
        while True:
            answer: InitProducerIdResponse = self._client.ask(INIT_PRODUCER_ID, request)
            if answer.error_code not in PASSING or time.monotonic() >= deadline:
                check(answer.error_code, what="no producer id")
                return ProducerId(answer.producer_id, answer.producer_epoch)
            time.sleep(RETRY_PAUSE_S)


def _why(answer: ProducePartitionResponse) -> str | None:
    errors = [each.batch_index_error_message for each in answer.record_errors]
    return "; ".join(text for text in (answer.error_message, *errors) if text) or None
