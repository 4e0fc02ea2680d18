"""DeleteRecords, key 21: everything before an offset is dropped from a partition (KIP-107).

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 flexible
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class DeleteRecordsPartition:
    partition_index: int = int32()
    # -1 stands for the high watermark.
    offset: int = int64()


@message
class DeleteRecordsTopic:
    name: str = string()
    partitions: list[DeleteRecordsPartition] = array(struct(DeleteRecordsPartition))


@message
class DeleteRecordsRequest:
    topics: list[DeleteRecordsTopic] = array(struct(DeleteRecordsTopic))
    timeout_ms: int = int32()


@message
class DeleteRecordsPartitionResult:
    partition_index: int = int32()
    low_watermark: int = int64()
    error_code: int = int16()


@message
class DeleteRecordsTopicResult:
    name: str = string()
    partitions: list[DeleteRecordsPartitionResult] = array(struct(DeleteRecordsPartitionResult))


@message
class DeleteRecordsResponse:
    throttle_time_ms: int = int32()
    topics: list[DeleteRecordsTopicResult] = array(struct(DeleteRecordsTopicResult))
