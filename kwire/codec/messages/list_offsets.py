"""ListOffsets, key 2: where a partition begins, where it ends, or where a time begins.

v1 one offset for each partition, with its timestamp (KIP-79)
v2 isolation level; throttle time in the answer (KIP-98)
v3 the broker answers first and throttles after (KIP-219)
v4 leader epoch on both sides (KIP-320)
v5 OFFSET_NOT_AVAILABLE may be answered (KIP-207)
v6 flexible
v7 timestamp -3: the record with the largest timestamp (KIP-734)
v8 timestamp -4: the earliest offset on local disk (KIP-405)
v9 timestamp -5: the last offset in tiered storage (KIP-1005)
v10 timeout, for look-ups in tiered storage (KIP-1075)
v11 timestamp -6: the earliest offset still to be uploaded (KIP-1023)
"""

from kwire.codec.schema import array, int8, int16, int32, int64, message, string, struct


@message
class ListOffsetsPartition:
    partition_index: int = int32()
    current_leader_epoch: int = int32(since=4, default=-1)
    # -1 latest, -2 earliest, -3 max timestamp, -4 earliest local, -5 latest tiered,
    # -6 earliest pending upload; anything else is a time.
    timestamp: int = int64()


@message
class ListOffsetsTopic:
    name: str = string()
    partitions: list[ListOffsetsPartition] = array(struct(ListOffsetsPartition))


@message
class ListOffsetsRequest:
    # -1 is a consumer.
    replica_id: int = int32()
    # 0 reads up to the high watermark, 1 up to the last stable offset.
    isolation_level: int = int8(since=2)
    topics: list[ListOffsetsTopic] = array(struct(ListOffsetsTopic))
    timeout_ms: int = int32(since=10)


@message
class ListOffsetsPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()
    timestamp: int = int64(default=-1)
    offset: int = int64(default=-1)
    leader_epoch: int = int32(since=4, default=-1)


@message
class ListOffsetsTopicResponse:
    name: str = string()
    partitions: list[ListOffsetsPartitionResponse] = array(struct(ListOffsetsPartitionResponse))


@message
class ListOffsetsResponse:
    throttle_time_ms: int = int32(since=2)
    topics: list[ListOffsetsTopicResponse] = array(struct(ListOffsetsTopicResponse))
