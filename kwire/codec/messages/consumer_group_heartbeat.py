"""ConsumerGroupHeartbeat, key 68: a member of the new protocol joins, stays, leaves (KIP-848).

v0 the first form, flexible
v1 topics chosen by a regular expression; the member makes up its own id (KIP-848, KIP-1082)
"""

from kwire.codec.schema import array, int16, int32, message, string, struct, uuid


@message
class HeartbeatTopicPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(int32())


@message
class ConsumerGroupHeartbeatRequest:
    group_id: str = string()
    member_id: str = string()
    # 0 joins, -1 leaves, -2 leaves and keeps a static member's place.
    member_epoch: int = int32()
    # Null, or -1, says of what follows that it has not changed since the last heartbeat.
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    subscribed_topic_names: list[str] | None = array(string(), nullable=True, default=None)
    subscribed_topic_regex: str | None = string(since=1, nullable=True, default=None)
    server_assignor: str | None = string(nullable=True, default=None)
    # What the member owns now.
    topic_partitions: list[HeartbeatTopicPartitions] | None = array(
        struct(HeartbeatTopicPartitions), nullable=True, default=None
    )


@message
class HeartbeatAssignment:
    topic_partitions: list[HeartbeatTopicPartitions] = array(struct(HeartbeatTopicPartitions))


@message
class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    # Null when the member already has what it should.
    assignment: HeartbeatAssignment | None = struct(
        HeartbeatAssignment, nullable=True, default=None
    )
