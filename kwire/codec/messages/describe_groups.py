"""DescribeGroups, key 15: state, protocol and members of classic groups.

v0 the first form
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 authorized operations, when asked for (KIP-430)
v4 static members (KIP-345)
v5 flexible
v6 error message; GROUP_ID_NOT_FOUND instead of a dead group (KIP-1043)
"""

from kwire.codec.schema import array, boolean, bytes_, int16, int32, message, string, struct


@message
class DescribeGroupsRequest:
    groups: list[str] = array(string())
    include_authorized_operations: bool = boolean(since=3)


@message
class DescribedGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string(since=4, nullable=True, default=None)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = bytes_()
    member_assignment: bytes = bytes_()


@message
class DescribedGroup:
    error_code: int = int16()
    error_message: str | None = string(since=6, nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: list[DescribedGroupMember] = array(struct(DescribedGroupMember))
    authorized_operations: int = int32(since=3, default=-(2**31))


@message
class DescribeGroupsResponse:
    throttle_time_ms: int = int32(since=1)
    groups: list[DescribedGroup] = array(struct(DescribedGroup))
