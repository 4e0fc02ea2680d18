"""Members of groups of the new protocol, byte for byte as Kafka stores them."""

import pytest

from kwire.codec.internal import consumer_group_member as members
from kwire.codec.internal.consumer_group_member import (
    AssignedPartitions,
    AssignmentValue,
    ClassicMemberMetadata,
    ClassicProtocol,
    MemberValue,
    TopicPartitions,
)

TOPIC_ID = bytes(range(16))
ID = TOPIC_ID.hex()


@pytest.mark.parametrize("kind", [members.MEMBER_KEY, members.TARGET_KEY, members.ASSIGNMENT_KEY])
def test_a_member_has_one_key_of_each_kind(kind: int) -> None:
    stored = bytes([0, kind]) + b"\0\1g\0\2m1"
    assert members.write_key(kind, "g", "m1") == stored
    read = members.read_key(stored)
    assert (read.group_id, read.member_id) == ("g", "m1")


PLAIN = "02 63 03 2f68 02 02 74 00 0000ea60 00"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (
            MemberValue(
                client_id="c",
                client_host="/h",
                subscribed_topic_names=["t"],
                rebalance_timeout_ms=60_000,
                classic_member_metadata=None,
            ),
            f"0000 00 00 {PLAIN} 01 00 01 00",
        ),
        (
            MemberValue(
                instance_id="i",
                rack_id="r",
                client_id="c",
                client_host="/h",
                subscribed_topic_regex="t*",
                rebalance_timeout_ms=60_000,
                server_assignor="range",
                classic_member_metadata=None,
            ),
            "0000 02 69 02 72 02 63 03 2f68 01 03 742a 0000ea60 06 72616e6765 01 00 01 00",
        ),
        (
            MemberValue(
                client_id="c",
                client_host="/h",
                subscribed_topic_names=["t"],
                rebalance_timeout_ms=60_000,
                classic_member_metadata=ClassicMemberMetadata(
                    session_timeout_ms=10_000,
                    supported_protocols=[ClassicProtocol(name="p", metadata=b"xy")],
                ),
            ),
            f"0000 00 00 {PLAIN} 01 00 0d 01 00002710 02 02 70 03 7879 00 00",
        ),
    ],
    ids=["plain", "everything", "classic"],
)
def test_what_a_member_wants(value: MemberValue, stored: str) -> None:
    assert members.write_member(value).hex() == bytes.fromhex(stored).hex()
    assert members.read_member(bytes.fromhex(stored)) == value


def test_a_member_that_kafka_stored_is_read() -> None:
    stored = bytes.fromhex(
        "0000 00 00 06 70726f6265 0b 2f3132372e302e302e31 02 09 742d643033316463 01 00002710"
        " 06 72616e6765 01 00 01 00"
    )
    member = members.read_member(stored)
    assert (member.client_id, member.subscribed_topic_names) == ("probe", ["t-d031dc"])
    assert member.classic_member_metadata is None
    assert members.write_member(member) == stored


def test_what_a_member_is_to_have() -> None:
    stored = bytes.fromhex(f"0000 02 {ID} 03 00000000 00000002 00 00")
    target = [TopicPartitions(topic_id=TOPIC_ID, partitions=[0, 2])]
    assert members.write_target(target) == stored
    assert members.read_target(stored) == target


def test_what_a_member_has() -> None:
    value = AssignmentValue(
        member_epoch=5,
        previous_member_epoch=4,
        state=2,
        assigned_partitions=[
            AssignedPartitions(topic_id=TOPIC_ID, partitions=[0], assignment_epochs=[3])
        ],
        partitions_pending_revocation=[AssignedPartitions(topic_id=TOPIC_ID, partitions=[1])],
    )
    stored = bytes.fromhex(
        "0000 00000005 00000004 02"
        f" 02 {ID} 02 00000000 01 00 05 02 00000003"
        f" 02 {ID} 02 00000001 00"
        " 00"
    )
    assert members.write_assignment(value).hex() == stored.hex()
    assert members.read_assignment(stored) == value
