"""ConsumerGroupDescribe, key 69: state and members of groups of the new protocol (KIP-848).

v0 the first form, flexible
v1 whether a member speaks the classic or the new protocol (KIP-1099)
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, message, string, struct, uuid


@message
class ConsumerGroupDescribeRequest:
    group_ids: list[str] = array(string())
    include_authorized_operations: bool = boolean()


@message
class ConsumerTopicPartitions:
    topic_id: bytes = uuid()
    topic_name: str = string()
    partitions: list[int] = array(int32())


@message
class ConsumerAssignment:
    topic_partitions: list[ConsumerTopicPartitions] = array(struct(ConsumerTopicPartitions))


@message
class DescribedConsumer:
    member_id: str = string()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string())
    subscribed_topic_regex: str | None = string(nullable=True, default=None)
    # What it has, and what it will have once the others let go.
    assignment: ConsumerAssignment = struct(ConsumerAssignment)
    target_assignment: ConsumerAssignment = struct(ConsumerAssignment)
    # -1 unknown, 0 classic, 1 new.
    member_type: int = int8(since=1, default=-1)


@message
class DescribedConsumerGroup:
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    assignor_name: str = string()
    members: list[DescribedConsumer] = array(struct(DescribedConsumer))
    authorized_operations: int = int32(default=-(2**31))


@message
class ConsumerGroupDescribeResponse:
    throttle_time_ms: int = int32()
    groups: list[DescribedConsumerGroup] = array(struct(DescribedConsumerGroup))
