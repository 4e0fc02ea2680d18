"""EndTxn, key 26: a producer commits its transaction, or aborts it.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 PRODUCER_FENCED may be answered (KIP-588)
v3 flexible
v4 TRANSACTION_ABORTABLE may be answered (KIP-890)
v5 every transaction ends with a new epoch, told in the answer (KIP-890)
"""

from kwire.codec.schema import boolean, int16, int32, int64, message, string


@message
class EndTxnRequest:
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    # False aborts.
    committed: bool = boolean()


@message
class EndTxnResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
    # What the producer has to use from now on.
    producer_id: int = int64(since=5, default=-1)
    producer_epoch: int = int16(since=5, default=-1)
