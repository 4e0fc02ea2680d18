"""InitProducerId, key 22: a producer gets its id and epoch before it writes.

v0 the first form
v1 the broker answers first and throttles after (KIP-219)
v2 flexible
v3 a producer may show its id and epoch, to have the epoch bumped (KIP-360)
v4 PRODUCER_FENCED may be answered (KIP-588)
v5 TRANSACTION_ABORTABLE may be answered (KIP-890)

Upstream's v6, two-phase commit (KIP-939), is not stable yet and left out.
"""

from kwire.codec.schema import int16, int32, int64, message, string


@message
class InitProducerIdRequest:
    # Null for a producer that is idempotent only.
    transactional_id: str | None = string(nullable=True)
    transaction_timeout_ms: int = int32()
    producer_id: int = int64(since=3, default=-1)
    producer_epoch: int = int16(since=3, default=-1)


@message
class InitProducerIdResponse:
    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()
