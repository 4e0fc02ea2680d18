"""DescribeProducers, key 61: who is writing to a partition, and in which transaction (KIP-664).

v0 the first form, flexible
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class DescribeProducersTopic:
    name: str = string()
    partition_indexes: list[int] = array(int32())


@message
class DescribeProducersRequest:
    topics: list[DescribeProducersTopic] = array(struct(DescribeProducersTopic))


@message
class ProducerState:
    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    # Where its open transaction begins, or -1.
    current_txn_start_offset: int = int64(default=-1)


@message
class DescribeProducersPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    active_producers: list[ProducerState] = array(struct(ProducerState))


@message
class DescribeProducersTopicResponse:
    name: str = string()
    partitions: list[DescribeProducersPartitionResponse] = array(
        struct(DescribeProducersPartitionResponse)
    )


@message
class DescribeProducersResponse:
    throttle_time_ms: int = int32()
    topics: list[DescribeProducersTopicResponse] = array(struct(DescribeProducersTopicResponse))
