"""DescribeTransactions, key 65: state, producer and partitions of named transactions (KIP-664).

v0 the first form, flexible
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class DescribeTransactionsRequest:
    transactional_ids: list[str] = array(string())


@message
class TransactionTopic:
    """Partitions of an open transaction; of one that is ending, those still without a marker."""

    topic: str = string()
    partitions: list[int] = array(int32())


@message
class TransactionState:
    error_code: int = int16()
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: list[TransactionTopic] = array(struct(TransactionTopic))


@message
class DescribeTransactionsResponse:
    throttle_time_ms: int = int32()
    transaction_states: list[TransactionState] = array(struct(TransactionState))
