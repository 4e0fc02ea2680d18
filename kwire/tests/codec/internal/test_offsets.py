"""Committed offsets, byte for byte as Kafka stores them."""

import pytest

from kwire.codec.internal import offsets
from kwire.codec.internal.offsets import NO_EXPIRY, CommittedOffset
from kwire.codec.primitives import MalformedMessage

KEY = bytes.fromhex("0001 0001 67 0001 74 00000003".replace(" ", ""))
TIME_MS = 0x018BCFE56800
TIME = "0000018bcfe56800"
VALUES = {
    0: f"0000 0000000000000005 0002 6869 {TIME}",
    1: f"0001 0000000000000005 0002 6869 {TIME} 0000018bcfe56801",
    2: f"0002 0000000000000005 0002 6869 {TIME}",
    3: f"0003 0000000000000005 00000007 0002 6869 {TIME}",
    4: f"0004 0000000000000005 00000007 03 6869 {TIME} 00",
}


def test_a_key_is_written_and_read() -> None:
    assert offsets.write_key("g", "t", 3) == KEY
    for version in (b"\0\0", b"\0\1"):
        key = offsets.read_key(version + KEY[2:])
        assert (key.group, key.topic, key.partition) == ("g", "t", 3)


@pytest.mark.parametrize("version", VALUES)
def test_every_version_of_a_value_is_read(version: int) -> None:
    found = offsets.read_value(bytes.fromhex(VALUES[version].replace(" ", "")))
    epoch = 7 if version >= 3 else -1
    expiry = TIME_MS + 1 if version == 1 else NO_EXPIRY
    assert found == CommittedOffset(5, epoch, "hi", TIME_MS, expiry)


@pytest.mark.parametrize(
    ("committed", "version"),
    [
        (CommittedOffset(5, 7, "hi", TIME_MS), 3),
        (CommittedOffset(5, -1, "hi", TIME_MS, TIME_MS + 1), 1),
    ],
)
def test_a_value_is_written_in_the_version_that_can_hold_it(
    committed: CommittedOffset, version: int
) -> None:
    written = offsets.write_value(committed)
    assert written == bytes.fromhex(VALUES[version].replace(" ", ""))
    assert offsets.read_value(written) == committed


@pytest.mark.parametrize("stored", [b"", b"\0", b"\0\5", b"\0\3\0\0", b"\xff\xff"])
def test_what_is_no_value_is_refused(stored: bytes) -> None:
    with pytest.raises(MalformedMessage):
        offsets.read_value(stored)
