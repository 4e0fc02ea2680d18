"""Generations of groups, byte for byte as Kafka stores them."""

import pytest

from kwire.codec.internal import group_metadata
from kwire.codec.internal.group_metadata import GroupMetadataValue, StoredMember
from kwire.codec.primitives import MalformedMessage

HEAD = "0001 63 00000002 0001 72 0001 6d"
BODY = "0001 63 0002 2f68"
TAIL = "00002710 00000002 7373 00000001 61"
VALUES = {
    0: f"0000 {HEAD} 00000001 0001 6d {BODY} {TAIL}",
    1: f"0001 {HEAD} 00000001 0001 6d {BODY} 0000ea60 {TAIL}",
    2: f"0002 {HEAD} 0000000000000009 00000001 0001 6d {BODY} 0000ea60 {TAIL}",
    3: f"0003 {HEAD} 0000000000000009 00000001 0001 6d 0001 69 {BODY} 0000ea60 {TAIL}",
    4: "0004 02 63 00000002 02 72 02 6d 0000000000000009 02"
    " 02 6d 02 69 02 63 03 2f68 0000ea60 00002710 03 7373 02 61 00 00",
}


def _value(version: int) -> GroupMetadataValue:
    member = StoredMember(
        member_id="m",
        group_instance_id="i" if version >= 3 else None,
        client_id="c",
        client_host="/h",
        rebalance_timeout=60_000 if version >= 1 else -1,
        session_timeout=10_000,
        subscription=b"ss",
        assignment=b"a",
    )
    return GroupMetadataValue(
        protocol_type="c",
        generation=2,
        protocol="r",
        leader="m",
        current_state_timestamp=9 if version >= 2 else -1,
        members=[member],
    )


def test_a_key_is_written_and_read() -> None:
    assert group_metadata.write_key("g") == b"\0\2\0\1g"
    assert group_metadata.read_key(b"\0\2\0\1g") == "g"


@pytest.mark.parametrize("version", VALUES)
def test_every_version_of_a_value_is_read(version: int) -> None:
    stored = bytes.fromhex(VALUES[version].replace(" ", ""))
    assert group_metadata.read_value(stored) == _value(version)


def test_a_value_is_written_in_version_3() -> None:
    assert group_metadata.write_value(_value(3)).hex() == VALUES[3].replace(" ", "")


def test_an_empty_generation_has_neither_protocol_nor_leader() -> None:
    empty = GroupMetadataValue(protocol_type="", generation=0, protocol=None, leader=None)
    assert group_metadata.read_value(group_metadata.write_value(empty)) == empty


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="version 5"):
        group_metadata.read_value(b"\0\5")
