"""AddOffsetsToTxn, key 25: a producer says that its transaction will commit a group's offsets.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 PRODUCER_FENCED may be answered (KIP-588)
v3 flexible
v4 TRANSACTION_ABORTABLE may be answered (KIP-890)
"""

from kwire.codec.schema import int16, int32, int64, message, string


@message
class AddOffsetsToTxnRequest:
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    group_id: str = string()


@message
class AddOffsetsToTxnResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
