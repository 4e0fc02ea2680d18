"""AddPartitionsToTxn, key 24: a producer says which partitions its transaction will write to.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 PRODUCER_FENCED may be answered (KIP-588)
v3 flexible
v4 many transactions at once, or only a look whether the partitions are in (KIP-890)
v5 TRANSACTION_ABORTABLE may be answered (KIP-890)

Clients stay at v3; from v4 on it is brokers that ask a transaction's coordinator.
"""

from kwire.codec.schema import array, boolean, int16, int32, int64, message, string, struct


@message
class AddPartitionsToTxnTopic:
    name: str = string()
    partitions: list[int] = array(int32())


@message
class AddPartitionsToTxnTransaction:
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    # Ask whether the partitions are in the transaction, and add none.
    verify_only: bool = boolean()
    topics: list[AddPartitionsToTxnTopic] = array(struct(AddPartitionsToTxnTopic))


@message
class AddPartitionsToTxnRequest:
    transactions: list[AddPartitionsToTxnTransaction] = array(
        struct(AddPartitionsToTxnTransaction), since=4
    )
    # Up to v3 there is one transaction, at the top level.
    v3_and_below_transactional_id: str = string(until=3)
    v3_and_below_producer_id: int = int64(until=3)
    v3_and_below_producer_epoch: int = int16(until=3)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = array(
        struct(AddPartitionsToTxnTopic), until=3
    )


@message
class AddPartitionsToTxnPartitionResult:
    partition_index: int = int32()
    partition_error_code: int = int16()


@message
class AddPartitionsToTxnTopicResult:
    name: str = string()
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(
        struct(AddPartitionsToTxnPartitionResult)
    )


@message
class AddPartitionsToTxnResult:
    transactional_id: str = string()
    topic_results: list[AddPartitionsToTxnTopicResult] = array(
        struct(AddPartitionsToTxnTopicResult)
    )


@message
class AddPartitionsToTxnResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16(since=4)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(
        struct(AddPartitionsToTxnResult), since=4
    )
    # Up to v3 the one transaction is answered at the top level.
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(
        struct(AddPartitionsToTxnTopicResult), until=3
    )
