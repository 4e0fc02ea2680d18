"""JoinGroup, key 11: a member enters the next generation of its group.

v0 the first form
v1 rebalance timeout (KIP-62)
v2 throttle time
v3 the broker answers first and throttles after (KIP-219)
v4 a new member is told its id and joins again with it (KIP-394)
v5 static members (KIP-345)
v6 flexible
v7 protocol type in the answer, protocol name may be null (KIP-559)
v8 reason for joining (KIP-800)
v9 the leader may be told to skip the assignment (KIP-814)
"""

from kwire.codec.schema import array, boolean, bytes_, int16, int32, message, string, struct


@message
class JoinGroupProtocol:
    name: str = string()
    metadata: bytes = bytes_()


@message
class JoinGroupRequest:
    group_id: str = string()
    session_timeout_ms: int = int32()
    # Absent in v0, where the session timeout serves for both.
    rebalance_timeout_ms: int = int32(since=1, default=-1)
    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=True, default=None)
    protocol_type: str = string()
    protocols: list[JoinGroupProtocol] = array(struct(JoinGroupProtocol))
    reason: str | None = string(since=8, nullable=True, default=None)


@message
class JoinGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=True, default=None)
    metadata: bytes = bytes_()


@message
class JoinGroupResponse:
    throttle_time_ms: int = int32(since=2)
    error_code: int = int16()
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string(since=7, nullable=True, default=None)
    protocol_name: str | None = string(nullable_since=7)
    leader: str = string()
    skip_assignment: bool = boolean(since=9)
    member_id: str = string()
    members: list[JoinGroupMember] = array(struct(JoinGroupMember))
