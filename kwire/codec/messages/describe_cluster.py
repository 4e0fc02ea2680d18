"""DescribeCluster, key 60: cluster id, controller and brokers, without any topic (KIP-700).

v0 the first form, flexible
v1 brokers or controllers (KIP-919)
v2 fenced brokers, when asked for (KIP-1073)
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct


@message
class DescribeClusterRequest:
    include_cluster_authorized_operations: bool = boolean()
    # 1 asks for brokers, 2 for controllers.
    endpoint_type: int = int8(since=1, default=1)
    include_fenced_brokers: bool = boolean(since=2)


@message
class DescribeClusterBroker:
    broker_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable=True, default=None)
    is_fenced: bool = boolean(since=2)


@message
class DescribeClusterResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    endpoint_type: int = int8(since=1, default=1)
    cluster_id: str = string()
    controller_id: int = int32(default=-1)
    brokers: list[DescribeClusterBroker] = array(struct(DescribeClusterBroker))
    cluster_authorized_operations: int = int32(default=-(2**31))
