"""CreatePartitions, key 37: topics get more partitions (KIP-195).

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 flexible
v3 THROTTLING_QUOTA_EXCEEDED may be answered (KIP-599)
"""

from kwire.codec.schema import array, boolean, int16, int32, message, string, struct


@message
class CreatePartitionsAssignment:
    broker_ids: list[int] = array(int32())


@message
class CreatePartitionsTopic:
    name: str = string()
    # The new total, not the increase.
    count: int = int32()
    # One per added partition; null lets the controller choose.
    assignments: list[CreatePartitionsAssignment] | None = array(
        struct(CreatePartitionsAssignment), nullable=True
    )


@message
class CreatePartitionsRequest:
    topics: list[CreatePartitionsTopic] = array(struct(CreatePartitionsTopic))
    timeout_ms: int = int32()
    validate_only: bool = boolean()


@message
class CreatePartitionsTopicResult:
    name: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


@message
class CreatePartitionsResponse:
    throttle_time_ms: int = int32()
    results: list[CreatePartitionsTopicResult] = array(struct(CreatePartitionsTopicResult))
