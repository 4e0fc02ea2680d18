"""DescribeLogDirs, key 35: how much each replica takes in each log directory (KIP-113).

v1 the broker answers first and throttles after (KIP-219)
v2 flexible
v3 error for the request as a whole
v4 total and usable bytes of the directory (KIP-827)
v5 whether the directory is cordoned (KIP-1066)
"""

from kwire.codec.schema import array, boolean, int16, int32, int64, message, string, struct


@message
class DescribableLogDirTopic:
    topic: str = string()
    partitions: list[int] = array(int32())


@message
class DescribeLogDirsRequest:
    # Null asks for all topics.
    topics: list[DescribableLogDirTopic] | None = array(
        struct(DescribableLogDirTopic), nullable=True
    )


@message
class DescribeLogDirsPartition:
    partition_index: int = int32()
    partition_size: int = int64()
    offset_lag: int = int64()
    # The replica that an AlterReplicaLogDirs move is filling.
    is_future_key: bool = boolean()


@message
class DescribeLogDirsTopic:
    name: str = string()
    partitions: list[DescribeLogDirsPartition] = array(struct(DescribeLogDirsPartition))


@message
class DescribeLogDirsResult:
    error_code: int = int16()
    log_dir: str = string()
    topics: list[DescribeLogDirsTopic] = array(struct(DescribeLogDirsTopic))
    total_bytes: int = int64(since=4, default=-1)
    usable_bytes: int = int64(since=4, default=-1)
    is_cordoned: bool = boolean(since=5)


@message
class DescribeLogDirsResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16(since=3)
    results: list[DescribeLogDirsResult] = array(struct(DescribeLogDirsResult))
