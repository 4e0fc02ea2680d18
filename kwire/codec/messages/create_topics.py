"""CreateTopics, key 19: the controller creates topics.

v2 validate only, error message, throttle time
v3 the broker answers first and throttles after (KIP-219)
v4 partitions and replicas of -1 take the broker's default (KIP-464)
v5 flexible; the answer tells partitions, replicas and configs (KIP-525)
v6 THROTTLING_QUOTA_EXCEEDED may be answered (KIP-599)
v7 topic id in the answer (KIP-516)
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct, uuid


@message
class CreatableReplicaAssignment:
    partition_index: int = int32()
    broker_ids: list[int] = array(int32())


@message
class CreatableTopicConfig:
    name: str = string()
    value: str | None = string(nullable=True)


@message
class CreatableTopic:
    name: str = string()
    # -1 takes the broker's default, and is what goes with assignments of one's own.
    num_partitions: int = int32()
    replication_factor: int = int16()
    assignments: list[CreatableReplicaAssignment] = array(struct(CreatableReplicaAssignment))
    configs: list[CreatableTopicConfig] = array(struct(CreatableTopicConfig))


@message
class CreateTopicsRequest:
    topics: list[CreatableTopic] = array(struct(CreatableTopic))
    timeout_ms: int = int32(default=60000)
    validate_only: bool = boolean()


@message
class CreatedTopicConfig:
    name: str = string()
    value: str | None = string(nullable=True)
    read_only: bool = boolean()
    config_source: int = int8(default=-1)
    is_sensitive: bool = boolean()


@message
class CreatableTopicResult:
    name: str = string()
    topic_id: bytes = uuid(since=7)
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    topic_config_error_code: int = int16(since=5, tag=0)
    num_partitions: int = int32(since=5, default=-1)
    replication_factor: int = int16(since=5, default=-1)
    # Null when the caller may not describe them; topic_config_error_code says why.
    configs: list[CreatedTopicConfig] | None = array(
        struct(CreatedTopicConfig), since=5, nullable=True
    )


@message
class CreateTopicsResponse:
    throttle_time_ms: int = int32()
    topics: list[CreatableTopicResult] = array(struct(CreatableTopicResult))
