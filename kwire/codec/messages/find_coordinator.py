"""FindCoordinator, key 10: which broker coordinates a group or a transactional id.

v0 the first form, for groups
v1 transactional ids too (KIP-98); throttle time, error message
v2 the broker answers first and throttles after (KIP-219)
v3 flexible
v4 many keys at once (KIP-699)
v5 TRANSACTION_ABORTABLE may be answered (KIP-890)
v6 share groups (KIP-932)
"""

from kwire.codec.schema import array, int8, int16, int32, message, string, struct


@message
class FindCoordinatorRequest:
    key: str = string(until=3)
    # 0 group, 1 transaction, 2 share group.
    key_type: int = int8(since=1)
    coordinator_keys: list[str] = array(string(), since=4)


@message
class Coordinator:
    key: str = string()
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)


@message
class FindCoordinatorResponse:
    throttle_time_ms: int = int32(since=1)
    error_code: int = int16(until=3)
    error_message: str | None = string(since=1, until=3, nullable=True)
    node_id: int = int32(until=3)
    host: str = string(until=3)
    port: int = int32(until=3)
    coordinators: list[Coordinator] = array(struct(Coordinator), since=4)
