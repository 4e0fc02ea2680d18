"""OffsetCommit, key 8: a group stores how far it has read.

v2 retention time, chosen by the client
v3 throttle time
v4 the broker answers first and throttles after (KIP-219)
v5 no retention time: the broker decides (KIP-211)
v6 leader epoch of the committed offset (KIP-320)
v7 static members (KIP-345)
v8 flexible
v9 members of the new protocol give their epoch (KIP-848)
v10 topic ids instead of names (KIP-848)
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct, uuid


@message
class OffsetCommitPartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(since=6, default=-1)
    committed_metadata: str | None = string(nullable=True)


@message
class OffsetCommitTopic:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetCommitPartition] = array(struct(OffsetCommitPartition))


@message
class OffsetCommitRequest:
    group_id: str = string()
    generation_id_or_member_epoch: int = int32(default=-1)
    member_id: str = string()
    group_instance_id: str | None = string(since=7, nullable=True, default=None)
    retention_time_ms: int = int64(until=4, default=-1)
    topics: list[OffsetCommitTopic] = array(struct(OffsetCommitTopic))


@message
class OffsetCommitPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()


@message
class OffsetCommitTopicResponse:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetCommitPartitionResponse] = array(struct(OffsetCommitPartitionResponse))


@message
class OffsetCommitResponse:
    throttle_time_ms: int = int32(since=3)
    topics: list[OffsetCommitTopicResponse] = array(struct(OffsetCommitTopicResponse))
