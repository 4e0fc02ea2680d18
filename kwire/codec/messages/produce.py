"""Produce, key 0: a producer appends one record batch to each partition it names.

v3 transactional id, records in message format 2 (KIP-98)
v4 KAFKA_STORAGE_ERROR may be answered (KIP-112)
v5 log start offset in the answer
v6 the broker answers first and throttles after (KIP-219)
v7 zstd batches are allowed (KIP-110)
v8 the answer says which records were bad, and why (KIP-467)
v9 flexible
v10 the answer names the current leader to a client that missed it (KIP-951)
v11 TRANSACTION_ABORTABLE may be answered (KIP-890)
v12 a transactional produce adds its partitions to the transaction (KIP-890)
v13 topic ids instead of names (KIP-516)

Versions 0 to 2 carried older message formats. Kafka 4 advertises them for the sake of librdkafka
but does not read them (KAFKA-18659), and neither do we.
"""

from kwire.codec.messages.leaders import LeaderIdAndEpoch, NodeEndpoint
from kwire.codec.schema import array, int16, int32, int64, message, records, string, struct, uuid


@message
class ProducePartition:
    index: int = int32()
    records: memoryview | None = records(nullable=True)


@message
class ProduceTopic:
    name: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partition_data: list[ProducePartition] = array(struct(ProducePartition))


@message
class ProduceRequest:
    transactional_id: str | None = string(nullable=True, default=None)
    # 0 wants no answer at all, 1 the leader's, -1 that of all in-sync replicas.
    acks: int = int16()
    timeout_ms: int = int32()
    topic_data: list[ProduceTopic] = array(struct(ProduceTopic))


@message
class RecordError:
    """One record that made the broker refuse the whole batch."""

    batch_index: int = int32()
    batch_index_error_message: str | None = string(nullable=True, default=None)


@message
class ProducePartitionResponse:
    index: int = int32()
    error_code: int = int16()
    base_offset: int = int64()
    log_append_time_ms: int = int64(default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    record_errors: list[RecordError] = array(struct(RecordError), since=8)
    error_message: str | None = string(since=8, nullable=True, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=10, tag=0)


@message
class ProduceTopicResponse:
    name: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partition_responses: list[ProducePartitionResponse] = array(struct(ProducePartitionResponse))


@message
class ProduceResponse:
    responses: list[ProduceTopicResponse] = array(struct(ProduceTopicResponse))
    throttle_time_ms: int = int32()
    node_endpoints: list[NodeEndpoint] = array(struct(NodeEndpoint), since=10, tag=0)
