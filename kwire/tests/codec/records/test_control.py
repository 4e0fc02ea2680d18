"""Markers are what Kafka writes at the end of a transaction."""

import struct

import pytest

from kwire.codec.records.batch import parse_header
from kwire.codec.records.builder import build_batch
from kwire.codec.records.control import Marker, marker_key, marker_value, read_marker
from kwire.codec.records.record import Record
from kwire.errors import InvalidRecord
from kwire.tests.builders import A_TIMESTAMP


def _control_batch(key: bytes | None, value: bytes | None) -> bytearray:
    return build_batch([Record(0, A_TIMESTAMP, key, value)], control=True, transactional=True)


@pytest.mark.parametrize(("is_abort", "key"), [(True, "00000000"), (False, "00000001")])
def test_a_marker_has_the_bytes_that_kafka_writes(is_abort: bool, key: str) -> None:
    assert marker_key(is_abort=is_abort).hex() == key
    assert marker_value(258).hex() == "000000000102"


@pytest.mark.parametrize("is_abort", [True, False])
def test_a_marker_is_read_back(is_abort: bool) -> None:
    batch = _control_batch(marker_key(is_abort=is_abort), marker_value(7))
    assert read_marker(batch, parse_header(batch)) == Marker(is_abort, 7)


def test_later_versions_may_add_to_key_and_value() -> None:
    batch = _control_batch(b"\0\1\0\1" + b"more", b"\0\1\0\0\0\7" + b"more")
    assert read_marker(batch, parse_header(batch)) == Marker(is_abort=False, coordinator_epoch=7)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, marker_value(1)),
        (b"\0\0\0", marker_value(1)),
        (marker_key(is_abort=True), None),
        (marker_key(is_abort=True), b"\0\0\0\0\0"),
    ],
)
def test_a_control_batch_without_a_whole_marker_is_refused(
    key: bytes | None, value: bytes | None
) -> None:
    batch = _control_batch(key, value)
    with pytest.raises(InvalidRecord, match="without a marker"):
        read_marker(batch, parse_header(batch))


@pytest.mark.parametrize("kind", [-1, 2, 3])
def test_a_control_record_of_another_kind_is_no_marker(kind: int) -> None:
    batch = _control_batch(struct.pack(">hh", 0, kind), marker_value(1))
    with pytest.raises(InvalidRecord, match="ends no transaction"):
        read_marker(batch, parse_header(batch))


def test_an_empty_control_batch_is_refused() -> None:
    batch = build_batch([], control=True)
    with pytest.raises(InvalidRecord, match="without a marker"):
        read_marker(batch, parse_header(batch))
