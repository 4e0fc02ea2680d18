"""TxnOffsetCommit, key 28: a transaction stores how far its group has read.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 leader epoch of the committed offset (KIP-320)
v3 flexible; the member and its generation, to fence old ones (KIP-447)
v4 TRANSACTION_ABORTABLE may be answered (KIP-890)
v5 the group's offsets become part of the transaction without AddOffsetsToTxn (KIP-890)
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class TxnOffsetCommitPartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(since=2, default=-1)
    committed_metadata: str | None = string(nullable=True)


@message
class TxnOffsetCommitTopic:
    name: str = string()
    partitions: list[TxnOffsetCommitPartition] = array(struct(TxnOffsetCommitPartition))


@message
class TxnOffsetCommitRequest:
    transactional_id: str = string()
    group_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    generation_id: int = int32(since=3, default=-1)
    member_id: str = string(since=3)
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    topics: list[TxnOffsetCommitTopic] = array(struct(TxnOffsetCommitTopic))


@message
class TxnOffsetCommitPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()


@message
class TxnOffsetCommitTopicResponse:
    name: str = string()
    partitions: list[TxnOffsetCommitPartitionResponse] = array(
        struct(TxnOffsetCommitPartitionResponse)
    )


@message
class TxnOffsetCommitResponse:
    throttle_time_ms: int = int32()
    topics: list[TxnOffsetCommitTopicResponse] = array(struct(TxnOffsetCommitTopicResponse))
