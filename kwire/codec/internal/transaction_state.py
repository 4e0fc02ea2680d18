"""Transactions, as `__transaction_state` holds them.

    key    i16 0 | transactional id string
    value  i16 1 | producer id i64 | epoch i16 | timeout i32 | state i8
                 | partitions [ topic string | indexes [i32] ]? | last update i64 | start i64
                 | tags: 0 previous producer id i64, 1 next producer id i64,
                         2 the transaction version of the client i16

Version 1 is written, and is flexible; version 0 has the same fields without the tags. A transaction
that has not begun has null for its partitions. A null value forgets the transactional id.
"""

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import array, int8, int16, int32, int64, message, string, struct

KEY_VERSION = 0
NO_PRODUCER_ID = -1
NO_TIMESTAMP = -1

_VALUE_VERSION = 1


@message
class TransactionLogKey:
    transactional_id: str = string()


@message
class StoredPartitions:
    topic: str = string()
    partition_ids: list[int] = array(int32())


@message
class TransactionLogValue:
    producer_id: int = int64()
    previous_producer_id: int = int64(since=1, tag=0, default=NO_PRODUCER_ID)
    next_producer_id: int = int64(since=1, tag=1, default=NO_PRODUCER_ID)
    producer_epoch: int = int16()
    transaction_timeout_ms: int = int32()
    transaction_status: int = int8()
    transaction_partitions: list[StoredPartitions] | None = array(
        struct(StoredPartitions), nullable=True
    )
    transaction_last_update_timestamp_ms: int = int64()
    transaction_start_timestamp_ms: int = int64()
    client_transaction_version: int = int16(since=1, tag=2, default=0)


_KEY = Format(TransactionLogKey, (KEY_VERSION, KEY_VERSION), None)
_VALUE = Format(TransactionLogValue, (0, _VALUE_VERSION), 1)


def write_key(transactional_id: str) -> bytes:
    return _KEY.write(TransactionLogKey(transactional_id=transactional_id), KEY_VERSION)


def read_key(stored: bytes) -> str:
    return _KEY.read(stored).transactional_id


def write_value(value: TransactionLogValue) -> bytes:
    return _VALUE.write(value, _VALUE_VERSION)


def read_value(stored: bytes) -> TransactionLogValue:
    return _VALUE.read(stored)
