"""SyncGroup, key 14: the leader hands in the assignment, each member gets its part.

v0 the first form
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 static members (KIP-345)
v4 flexible
v5 protocol type and name on both sides, to be checked (KIP-559)
"""

from kwire.codec.schema import array, bytes_, int16, int32, message, string, struct


@message
class SyncGroupAssignment:
    member_id: str = string()
    assignment: bytes = bytes_()


@message
class SyncGroupRequest:
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    protocol_type: str | None = string(since=5, nullable=True, default=None)
    protocol_name: str | None = string(since=5, nullable=True, default=None)
    assignments: list[SyncGroupAssignment] = array(struct(SyncGroupAssignment))


@message
class SyncGroupResponse:
    throttle_time_ms: int = int32(since=1)
    error_code: int = int16()
    protocol_type: str | None = string(since=5, nullable=True, default=None)
    protocol_name: str | None = string(since=5, nullable=True, default=None)
    assignment: bytes = bytes_()
