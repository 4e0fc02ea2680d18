"""OffsetForLeaderEpoch, key 23: where the batches of a leader epoch end (KIP-101).

v2 current leader epoch, to fence old readers (KIP-320); throttle time
v3 replica id
v4 flexible
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class OffsetForLeaderPartition:
    partition: int = int32()
    current_leader_epoch: int = int32(default=-1)
    leader_epoch: int = int32()


@message
class OffsetForLeaderTopic:
    topic: str = string()
    partitions: list[OffsetForLeaderPartition] = array(struct(OffsetForLeaderPartition))


@message
class OffsetForLeaderEpochRequest:
    # -1 is a consumer, -2 a debugger that may look beyond the high watermark.
    replica_id: int = int32(since=3, default=-2)
    topics: list[OffsetForLeaderTopic] = array(struct(OffsetForLeaderTopic))


@message
class EpochEndOffset:
    """The end of the largest epoch that is not above the one asked for."""

    error_code: int = int16()
    partition: int = int32()
    leader_epoch: int = int32(default=-1)
    end_offset: int = int64(default=-1)


@message
class OffsetForLeaderTopicResult:
    topic: str = string()
    partitions: list[EpochEndOffset] = array(struct(EpochEndOffset))


@message
class OffsetForLeaderEpochResponse:
    throttle_time_ms: int = int32()
    topics: list[OffsetForLeaderTopicResult] = array(struct(OffsetForLeaderTopicResult))
