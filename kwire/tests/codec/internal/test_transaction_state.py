"""Transactions, byte for byte as Kafka stores them."""

import pytest

from kwire.codec.internal import transaction_state
from kwire.codec.internal.transaction_state import StoredPartitions, TransactionLogValue
from kwire.codec.primitives import MalformedMessage

ONGOING = 1
HEAD = "0000000000000009 0002 0000ea60 01"
TIMES = "0000018bcfe56800 0000018bcfe567ff"
TIME_MS = 0x018BCFE56800
PLAIN = f"0000 {HEAD} 00000001 0001 74 00000002 00000000 00000003 {TIMES}"
TAGS = "03 00 08 0000000000000008 01 08 000000000000000a 02 02 0002"
FLEXIBLE = f"0001 {HEAD} 02 02 74 03 00000000 00000003 00 {TIMES} {TAGS}"


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def _value(**tags: int) -> TransactionLogValue:
    return TransactionLogValue(
        producer_id=9,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=ONGOING,
        transaction_partitions=[StoredPartitions(topic="t", partition_ids=[0, 3])],
        transaction_last_update_timestamp_ms=TIME_MS,
        transaction_start_timestamp_ms=TIME_MS - 1,
        **tags,
    )


NEWEST = _value(previous_producer_id=8, next_producer_id=10, client_transaction_version=2)


def test_a_key_is_written_and_read() -> None:
    assert transaction_state.write_key("tx") == _bytes("0000 0002 7478")
    assert transaction_state.read_key(_bytes("0000 0002 7478")) == "tx"


def test_a_value_is_written_in_the_newest_version() -> None:
    assert transaction_state.write_value(NEWEST) == _bytes(FLEXIBLE)


@pytest.mark.parametrize(("stored", "value"), [(PLAIN, _value()), (FLEXIBLE, NEWEST)])
def test_both_versions_are_read(stored: str, value: TransactionLogValue) -> None:
    assert transaction_state.read_value(_bytes(stored)) == value


def test_a_transaction_that_has_not_begun_has_no_partitions() -> None:
    value = _value()
    value.transaction_partitions = None
    stored = transaction_state.write_value(value)
    assert stored[17] == 0
    assert transaction_state.read_value(stored) == value


def test_a_version_of_the_future_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="version 2"):
        transaction_state.read_value(b"\0\2" + _bytes(FLEXIBLE)[2:])
