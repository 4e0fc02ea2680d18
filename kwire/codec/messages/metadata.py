"""Metadata, key 3: which brokers there are, and who leads which partition.

v0 the first form: an empty list asks for all topics
v1 null asks for all topics; rack, controller, internal topics in the answer
v2 cluster id
v3 throttle time
v4 the client may forbid the creation of missing topics
v5 offline replicas (KIP-112)
v6 the broker answers first and throttles after (KIP-219)
v7 leader epoch (KIP-320)
v8 authorized operations, when asked for (KIP-430)
v9 flexible
v10 topic ids in the answer (KIP-516)
v11 no authorized operations for the cluster: see DescribeCluster (KIP-700)
v12 topics may be asked for by id alone (KIP-516)
v13 error for the request as a whole (KIP-1102)
"""

from kwire.codec.schema import array, boolean, int16, int32, message, string, struct, uuid


@message
class MetadataRequestTopic:
    topic_id: bytes = uuid(since=10)
    name: str | None = string(nullable_since=10)


@message
class MetadataRequest:
    # Null asks for every topic; in v0, which has no null, an empty list does.
    topics: list[MetadataRequestTopic] | None = array(
        struct(MetadataRequestTopic), nullable_since=1
    )
    allow_auto_topic_creation: bool = boolean(since=4, default=True)
    include_cluster_authorized_operations: bool = boolean(since=8, until=10)
    include_topic_authorized_operations: bool = boolean(since=8)


@message
class MetadataBroker:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(since=1, nullable=True, default=None)


@message
class MetadataPartition:
    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(since=7, default=-1)
    replica_nodes: list[int] = array(int32())
    isr_nodes: list[int] = array(int32())
    offline_replicas: list[int] = array(int32(), since=5)


@message
class MetadataTopic:
    error_code: int = int16()
    name: str | None = string(nullable_since=12)
    topic_id: bytes = uuid(since=10)
    is_internal: bool = boolean(since=1)
    partitions: list[MetadataPartition] = array(struct(MetadataPartition))
    topic_authorized_operations: int = int32(since=8, default=-(2**31))


@message
class MetadataResponse:
    throttle_time_ms: int = int32(since=3)
    brokers: list[MetadataBroker] = array(struct(MetadataBroker))
    cluster_id: str | None = string(since=2, nullable=True, default=None)
    controller_id: int = int32(since=1, default=-1)
    topics: list[MetadataTopic] = array(struct(MetadataTopic))
    cluster_authorized_operations: int = int32(since=8, until=10, default=-(2**31))
    error_code: int = int16(since=13)
