"""OffsetFetch, key 9: how far a group has read.

v1 offsets come from the group's coordinator
v2 null asks for all topics; error for the group as a whole (KIP-88)
v3 throttle time
v4 the broker answers first and throttles after (KIP-219)
v5 leader epoch of the committed offset (KIP-320)
v6 flexible
v7 the reader may insist on stable offsets (KIP-447)
v8 many groups at once (KIP-709)
v9 members of the new protocol give their id and epoch (KIP-848)
v10 topic ids instead of names (KIP-848)
"""

from kwire.codec.schema import array, boolean, int16, int32, int64, message, string, struct, uuid


@message
class OffsetFetchTopic:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partition_indexes: list[int] = array(int32())


@message
class OffsetFetchGroup:
    group_id: str = string()
    member_id: str | None = string(since=9, nullable=True, default=None)
    member_epoch: int = int32(since=9, default=-1)
    # Null asks for all offsets of the group.
    topics: list[OffsetFetchTopic] | None = array(struct(OffsetFetchTopic), nullable=True)


@message
class OffsetFetchRequest:
    # Up to v7 one group is asked for, at the top level.
    group_id: str = string(until=7)
    topics: list[OffsetFetchTopic] | None = array(
        struct(OffsetFetchTopic), until=7, nullable_since=2
    )
    groups: list[OffsetFetchGroup] = array(struct(OffsetFetchGroup), since=8)
    require_stable: bool = boolean(since=7)


@message
class OffsetFetchPartitionResponse:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(since=5, default=-1)
    metadata: str | None = string(nullable=True)
    error_code: int = int16()


@message
class OffsetFetchTopicResponse:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetFetchPartitionResponse] = array(struct(OffsetFetchPartitionResponse))


@message
class OffsetFetchGroupResponse:
    group_id: str = string()
    topics: list[OffsetFetchTopicResponse] = array(struct(OffsetFetchTopicResponse))
    error_code: int = int16()


@message
class OffsetFetchResponse:
    throttle_time_ms: int = int32(since=3)
    # Up to v7 the one group is answered at the top level.
    topics: list[OffsetFetchTopicResponse] = array(struct(OffsetFetchTopicResponse), until=7)
    error_code: int = int16(since=2, until=7)
    groups: list[OffsetFetchGroupResponse] = array(struct(OffsetFetchGroupResponse), since=8)
