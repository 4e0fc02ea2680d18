"""DescribeTopicPartitions, key 75: topics page by page, with eligible leaders (KIP-966).

v0 the first form, flexible
"""

from kwire.codec.schema import array, boolean, int16, int32, message, string, struct, uuid


@message
class DescribeTopicPartitionsRequestTopic:
    name: str = string()


@message
class Cursor:
    """The first partition that the page before this one left out."""

    topic_name: str = string()
    partition_index: int = int32()


@message
class DescribeTopicPartitionsRequest:
    topics: list[DescribeTopicPartitionsRequestTopic] = array(
        struct(DescribeTopicPartitionsRequestTopic)
    )
    response_partition_limit: int = int32(default=2000)
    # Where to go on; null starts with the first topic.
    cursor: Cursor | None = struct(Cursor, nullable=True, default=None)


@message
class DescribeTopicPartitionsResponsePartition:
    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(default=-1)
    replica_nodes: list[int] = array(int32())
    isr_nodes: list[int] = array(int32())
    eligible_leader_replicas: list[int] | None = array(int32(), nullable=True, default=None)
    last_known_elr: list[int] | None = array(int32(), nullable=True, default=None)
    offline_replicas: list[int] = array(int32())


@message
class DescribeTopicPartitionsResponseTopic:
    error_code: int = int16()
    name: str | None = string(nullable=True)
    topic_id: bytes = uuid()
    is_internal: bool = boolean()
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(
        struct(DescribeTopicPartitionsResponsePartition)
    )
    topic_authorized_operations: int = int32(default=-(2**31))


@message
class DescribeTopicPartitionsResponse:
    throttle_time_ms: int = int32()
    topics: list[DescribeTopicPartitionsResponseTopic] = array(
        struct(DescribeTopicPartitionsResponseTopic)
    )
    # Null when nothing was left out.
    next_cursor: Cursor | None = struct(Cursor, nullable=True, default=None)
