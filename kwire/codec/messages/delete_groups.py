"""DeleteGroups, key 42: empty groups are forgotten, with their offsets (KIP-229).

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 flexible
"""

from kwire.codec.schema import array, int16, int32, message, string, struct


@message
class DeleteGroupsRequest:
    groups_names: list[str] = array(string())


@message
class DeletableGroupResult:
    group_id: str = string()
    error_code: int = int16()


@message
class DeleteGroupsResponse:
    throttle_time_ms: int = int32()
    results: list[DeletableGroupResult] = array(struct(DeletableGroupResult))
