"""ListTransactions, key 66: the transactions that a coordinator knows of (KIP-664).

v0 the first form, flexible
v1 only those that run longer than so many milliseconds (KIP-994)
v2 only those whose id matches a regular expression (KIP-1152)
"""

from kwire.codec.schema import array, int16, int32, int64, message, string, struct


@message
class ListTransactionsRequest:
    # Of each filter: nothing given lets everything through.
    state_filters: list[str] = array(string())
    producer_id_filters: list[int] = array(int64())
    duration_filter: int = int64(since=1, default=-1)
    transactional_id_pattern: str | None = string(since=2, nullable=True, default=None)


@message
class ListedTransaction:
    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


@message
class ListTransactionsResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
    unknown_state_filters: list[str] = array(string())
    transaction_states: list[ListedTransaction] = array(struct(ListedTransaction))
