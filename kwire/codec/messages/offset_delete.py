"""OffsetDelete, key 47: a group forgets how far it has read in some partitions (KIP-496).

v0 the first form, never flexible
"""

from kwire.codec.schema import array, int16, int32, message, string, struct


@message
class OffsetDeletePartition:
    partition_index: int = int32()


@message
class OffsetDeleteTopic:
    name: str = string()
    partitions: list[OffsetDeletePartition] = array(struct(OffsetDeletePartition))


@message
class OffsetDeleteRequest:
    group_id: str = string()
    topics: list[OffsetDeleteTopic] = array(struct(OffsetDeleteTopic))


@message
class OffsetDeletePartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()


@message
class OffsetDeleteTopicResponse:
    name: str = string()
    partitions: list[OffsetDeletePartitionResponse] = array(struct(OffsetDeletePartitionResponse))


@message
class OffsetDeleteResponse:
    error_code: int = int16()
    throttle_time_ms: int = int32()
    topics: list[OffsetDeleteTopicResponse] = array(struct(OffsetDeleteTopicResponse))
