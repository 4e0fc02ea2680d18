"""LeaveGroup, key 13: members leave their group.

v0 the first form: one member
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 many members at once, static ones too (KIP-345)
v4 flexible
v5 reason for leaving (KIP-800)
"""

from kwire.codec.schema import array, int16, int32, message, string, struct


@message
class LeaveGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string(nullable=True, default=None)
    reason: str | None = string(since=5, nullable=True, default=None)


@message
class LeaveGroupRequest:
    group_id: str = string()
    member_id: str = string(until=2)
    members: list[LeaveGroupMember] = array(struct(LeaveGroupMember), since=3)


@message
class LeaveGroupMemberResponse:
    member_id: str = string()
    group_instance_id: str | None = string(nullable=True)
    error_code: int = int16()


@message
class LeaveGroupResponse:
    throttle_time_ms: int = int32(since=1)
    error_code: int = int16()
    members: list[LeaveGroupMemberResponse] = array(struct(LeaveGroupMemberResponse), since=3)
