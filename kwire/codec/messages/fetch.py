"""Fetch, key 1: a consumer, or a follower, reads record batches from an offset on.

v4 message format 2; isolation level, last stable offset and aborted transactions (KIP-98)
v5 log start offset on both sides (KIP-107)
v6 KAFKA_STORAGE_ERROR may be answered (KIP-112)
v7 fetch sessions (KIP-227)
v8 the broker answers first and throttles after (KIP-219)
v9 current leader epoch, to fence old readers (KIP-320)
v10 zstd batches may be answered (KIP-110)
v11 rack of the reader, preferred read replica (KIP-392)
v12 flexible; last fetched epoch and diverging epoch, cluster id (KIP-595)
v13 topic ids instead of names (KIP-516)
v14 OFFSET_MOVED_TO_TIERED_STORAGE may be answered (KIP-405)
v15 a follower gives its broker epoch along with its id (KIP-903)
v16 the answer says where the current leaders are (KIP-951)
v17 a follower names its log directory (KIP-853)
v18 a follower tells the high watermark it knows (KIP-1166)
"""

from kwire.codec.messages.leaders import LeaderIdAndEpoch, NodeEndpoint
from kwire.codec.primitives import Buffer
from kwire.codec.schema import (
    array,
    int8,
    int16,
    int32,
    int64,
    message,
    records,
    string,
    struct,
    uuid,
)


@message
class ReplicaState:
    """Which follower is fetching, and in which of its lives."""

    replica_id: int = int32(default=-1)
    replica_epoch: int = int64(default=-1)


@message
class FetchPartition:
    partition: int = int32()
    current_leader_epoch: int = int32(since=9, default=-1)
    fetch_offset: int = int64()
    last_fetched_epoch: int = int32(since=12, default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    partition_max_bytes: int = int32()
    replica_directory_id: bytes = uuid(since=17, tag=0)
    high_watermark: int = int64(since=18, default=2**63 - 1, tag=1)


@message
class FetchTopic:
    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[FetchPartition] = array(struct(FetchPartition))


@message
class ForgottenTopic:
    """Partitions that the client drops from its fetch session."""

    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[int] = array(int32())


@message
class FetchRequest:
    cluster_id: str | None = string(since=12, nullable=True, default=None, tag=0)
    # -1 is a consumer; from v15 a follower names itself in replica_state.
    replica_id: int = int32(until=14, default=-1)
    replica_state: ReplicaState = struct(ReplicaState, since=15, tag=1)
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=2**31 - 1)
    # 0 reads up to the high watermark, 1 up to the last stable offset.
    isolation_level: int = int8()
    session_id: int = int32(since=7)
    session_epoch: int = int32(since=7, default=-1)
    topics: list[FetchTopic] = array(struct(FetchTopic))
    forgotten_topics_data: list[ForgottenTopic] = array(struct(ForgottenTopic), since=7)
    rack_id: str = string(since=11)


@message
class DivergingEpoch:
    """Where the log of a follower stops being the leader's: it must truncate to there."""

    epoch: int = int32(default=-1)
    end_offset: int = int64(default=-1)


@message
class SnapshotId:
    """The snapshot that a reader below the log start should load; metadata quorums only."""

    end_offset: int = int64(default=-1)
    epoch: int = int32(default=-1)


@message
class AbortedTransaction:
    """From first_offset on, records of this producer are to be skipped up to its abort marker."""

    producer_id: int = int64()
    first_offset: int = int64()


@message
class FetchPartitionResponse:
    partition_index: int = int32()
    error_code: int = int16()
    high_watermark: int = int64()
    last_stable_offset: int = int64(default=-1)
    log_start_offset: int = int64(since=5, default=-1)
    diverging_epoch: DivergingEpoch = struct(DivergingEpoch, since=12, tag=0)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=12, tag=1)
    snapshot_id: SnapshotId = struct(SnapshotId, since=12, tag=2)
    # Null unless the consumer reads committed data only.
    aborted_transactions: list[AbortedTransaction] | None = array(
        struct(AbortedTransaction), nullable=True
    )
    preferred_read_replica: int = int32(since=11, default=-1)
    records: Buffer | None = records(nullable=True)


@message
class FetchTopicResponse:
    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[FetchPartitionResponse] = array(struct(FetchPartitionResponse))


@message
class FetchResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16(since=7)
    session_id: int = int32(since=7)
    responses: list[FetchTopicResponse] = array(struct(FetchTopicResponse))
    node_endpoints: list[NodeEndpoint] = array(struct(NodeEndpoint), since=16, tag=0)
