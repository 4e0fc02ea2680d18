"""ListGroups, key 16: the groups that this broker coordinates.

v0 the first form
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 flexible
v4 states, to filter by and in the answer (KIP-518)
v5 types, to filter by and in the answer (KIP-848)
"""

from kwire.codec.schema import array, int16, int32, message, string, struct


@message
class ListGroupsRequest:
    states_filter: list[str] = array(string(), since=4)
    types_filter: list[str] = array(string(), since=5)


@message
class ListedGroup:
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string(since=4)
    group_type: str = string(since=5)


@message
class ListGroupsResponse:
    throttle_time_ms: int = int32(since=1)
    error_code: int = int16()
    groups: list[ListedGroup] = array(struct(ListedGroup))
