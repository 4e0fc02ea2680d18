"""Groups of the new protocol, byte for byte as Kafka stores them."""

import pytest

from kwire.codec.internal import consumer_group
from kwire.codec.internal.consumer_group import RegularExpressionValue, StoredTopic
from kwire.codec.primitives import MalformedMessage

TOPIC_ID = bytes(range(16))


@pytest.mark.parametrize(
    "kind",
    [
        consumer_group.GROUP_KEY,
        consumer_group.PARTITION_METADATA_KEY,
        consumer_group.TARGET_METADATA_KEY,
    ],
)
def test_a_group_has_one_key_of_each_kind(kind: int) -> None:
    stored = bytes([0, kind]) + b"\0\1g"
    assert consumer_group.write_key(kind, "g") == stored
    assert consumer_group.read_key(stored) == "g"


def test_an_epoch() -> None:
    stored = bytes.fromhex("0000 00000005 00")
    assert consumer_group.write_group(5) == stored
    assert consumer_group.read_group(stored) == 5


def test_an_epoch_with_the_hash_of_a_newer_broker() -> None:
    """Kafka 4.1 stores a hash of the topics with it (KIP-1101), which we need not know."""
    assert consumer_group.read_group(bytes.fromhex("0000 00000005 01 00 08 0102030405060708")) == 5


def test_the_epoch_of_a_target() -> None:
    stored = bytes.fromhex("0000 00000007 00")
    assert consumer_group.write_target_metadata(7) == stored
    assert consumer_group.read_target_metadata(stored) == 7


def test_topics() -> None:
    topics = [StoredTopic(topic_id=TOPIC_ID, topic_name="t", num_partitions=3)]
    stored = bytes.fromhex("0000 02") + TOPIC_ID + bytes.fromhex("02 74 00000003 01 00 00")
    assert consumer_group.write_partition_metadata(topics) == stored
    assert consumer_group.read_partition_metadata(stored) == topics


def test_a_regular_expression() -> None:
    key = bytes.fromhex("0010 0001 67 0002 742a")
    assert consumer_group.write_regular_expression_key("g", "t*") == key
    read = consumer_group.read_regular_expression_key(key)
    assert (read.group_id, read.regular_expression) == ("g", "t*")
    value = bytes.fromhex("0000 03 02 74 03 7474 0000000000000009 000000000000000a 00")
    assert consumer_group.write_regular_expression(["t", "tt"], 9, 10) == value
    expected = RegularExpressionValue(topics=["t", "tt"], version=9, timestamp=10)
    assert consumer_group.read_regular_expression(value) == expected


@pytest.mark.parametrize("stored", ["", "0000", "0001 00000005 00", "0000 0000"])
def test_what_cannot_be_read_is_refused(stored: str) -> None:
    with pytest.raises(MalformedMessage):
        consumer_group.read_group(bytes.fromhex(stored))
