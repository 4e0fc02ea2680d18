"""Rows of transactional and new-protocol group requests that no client would send."""

from compat_tests.bad_input.rows import (
    CLOSED,
    Ground,
    Row,
    both,
    error_after_throttle,
    error_of_partition,
    error_of_produce,
)
from compat_tests.bad_input.wire import (
    INIT_PRODUCER_ID,
    Batch,
    Reader,
    array,
    i8,
    i16,
    i32,
    i64,
    produce,
    request,
    text,
    uvarint,
)

ADD_PARTITIONS_TO_TXN = 24
ADD_OFFSETS_TO_TXN = 25
END_TXN = 26
TXN_OFFSET_COMMIT = 28
CONSUMER_GROUP_HEARTBEAT = 68

INVALID_REQUEST = 42
INVALID_PRODUCER_ID_MAPPING = 49
INVALID_TRANSACTION_TIMEOUT = 50
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53

NO_TAGS = b"\x00"
STRANGER = text("a stranger") + i64(12345) + i16(0)
TRANSACTIONAL = 16


def end_transaction() -> bytes:
    """What a stranger asks, whom no coordinator knows."""
    return request(END_TXN, 0, STRANGER + i8(1))


def _init(timeout_ms: int) -> bytes:
    return request(INIT_PRODUCER_ID, 0, text("impatient") + i32(timeout_ms))


BEGINNINGS = {
    "a transaction of no time": both(_init(0), INVALID_TRANSACTION_TIMEOUT, error_after_throttle),
    "a transaction of negative time": both(
        _init(-1), INVALID_TRANSACTION_TIMEOUT, error_after_throttle
    ),
    "a transaction for ever": both(
        _init(0x7FFFFFFF), INVALID_TRANSACTION_TIMEOUT, error_after_throttle
    ),
}

STRANGERS = {
    "a stranger ends a transaction": both(
        end_transaction(), INVALID_PRODUCER_ID_MAPPING, error_after_throttle
    ),
    "a stranger adds a partition": both(
        lambda ground: request(
            ADD_PARTITIONS_TO_TXN, 0, STRANGER + array(text(ground.plain) + array(i32(0)))
        ),
        INVALID_PRODUCER_ID_MAPPING,
        error_of_partition,
    ),
    "a stranger adds a group": both(
        request(ADD_OFFSETS_TO_TXN, 0, STRANGER + text("nobody")),
        INVALID_PRODUCER_ID_MAPPING,
        error_after_throttle,
    ),
    "an end for nobody": both(
        request(END_TXN, 0, text("") + i64(1) + i16(0) + i8(1)),
        INVALID_REQUEST,
        error_after_throttle,
    ),
    "an end for null": both(request(END_TXN, 0, text(None) + i64(1) + i16(0) + i8(1)), CLOSED),
    "more partitions to add than bytes": both(
        request(ADD_PARTITIONS_TO_TXN, 0, STRANGER + i32(50_000_000)), CLOSED
    ),
    "offsets beyond the frame": both(
        request(TXN_OFFSET_COMMIT, 0, text("a") + text("b") + i64(1) + i16(0) + i32(50_000_000)),
        CLOSED,
    ),
}


def _transactional_batch(ground: Ground) -> bytes:
    """A transactional batch in a request that names no transaction."""
    batch = Batch(attributes=TRANSACTIONAL, producer_id=7, producer_epoch=0, base_sequence=0)
    return produce(ground.plain, batch.build(ground.now))


BATCHES = {
    "a transactional batch without a transaction": both(
        _transactional_batch, TRANSACTIONAL_ID_AUTHORIZATION_FAILED, error_of_produce
    ),
}


def _error_of_flexible(answer: Reader) -> int:
    answer.i8(), answer.i32()
    return answer.i16()


def _heartbeat(member: bytes, epoch: int, *, topics: bytes = uvarint(0)) -> bytes:
    """A heartbeat of version 0: group, member, epoch, instance, rack, timeout, topics, ..."""
    body = uvarint(7) + b"nobody" + uvarint(len(member) + 1) + member + i32(epoch)
    body += uvarint(0) + uvarint(0) + i32(-1) + topics + uvarint(0) + uvarint(0) + NO_TAGS
    return request(CONSUMER_GROUP_HEARTBEAT, 0, body, tags=NO_TAGS)


HEARTBEATS = {
    "a new member without a wish": both(_heartbeat(b"", 0), INVALID_REQUEST, _error_of_flexible),
    "a heartbeat of no epoch": both(_heartbeat(b"me", -7), INVALID_REQUEST, _error_of_flexible),
    "more wishes than bytes": both(_heartbeat(b"me", 0, topics=uvarint(2**31 - 1)), CLOSED),
}

TABLE: dict[str, Row] = {**BEGINNINGS, **STRANGERS, **BATCHES, **HEARTBEATS}
