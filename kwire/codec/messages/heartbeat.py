"""Heartbeat, key 12: a member tells its coordinator that it is alive.

v0 the first form
v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 static members (KIP-345)
v4 flexible
"""

from kwire.codec.schema import int16, int32, message, string


@message
class HeartbeatRequest:
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=True, default=None)


@message
class HeartbeatResponse:
    throttle_time_ms: int = int32(since=1)
    error_code: int = int16()
