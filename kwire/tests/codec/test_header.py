"""Headers: a null client id and tagged fields come in every combination (redpanda#6570)."""

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.request_header.v1.header import RequestHeader as RequestHeaderV1
from kio.schema.request_header.v2.header import RequestHeader as RequestHeaderV2
from kio.serial import entity_writer
from kio.static.primitive import i16, i32

from kwire.codec.apis import API_VERSIONS, BY_KEY, HEARTBEAT, METADATA, Api
from kwire.codec.header import (
    RequestHeader,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response_header,
    has_flexible_response_header,
)
from kwire.codec.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.codec.primitives import MalformedMessage

NO_TAGS = b"\x00"
TAGS = b"\x02" + b"\x00\x03abc" + b"\x07\x00"
NULL = struct.pack(">h", -1)
NAMED = struct.pack(">h", 5) + b"kwire"

CLIENT_IDS = pytest.mark.parametrize(
    ("written", "client_id"),
    [(NULL, None), (struct.pack(">h", 0), ""), (NAMED, "kwire")],
)


def _head(client_id: bytes) -> bytes:
    return struct.pack(">hhi", 3, 9, 77) + client_id


@CLIENT_IDS
@pytest.mark.parametrize("tags", [NO_TAGS, TAGS])
def test_any_client_id_may_be_followed_by_any_tagged_fields(
    written: bytes, client_id: str | None, tags: bytes
) -> None:
    frame = _head(written) + tags + b"message"
    header, position = decode_request_header(memoryview(frame), flexible=True)
    assert header == RequestHeader(3, 9, 77, client_id)
    assert frame[position:] == b"message"


@CLIENT_IDS
def test_before_flexible_versions_the_message_follows_the_client_id(
    written: bytes, client_id: str | None
) -> None:
    frame = _head(written) + b"message"
    header, position = decode_request_header(memoryview(frame), flexible=False)
    assert header == RequestHeader(3, 9, 77, client_id)
    assert frame[position:] == b"message"


@settings(derandomize=True, database=None)
@given(
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(max_size=200),
)
def test_what_kio_writes_is_read(key: int, version: int, number: int, name: str | None) -> None:
    expected = RequestHeader(key, version, number, name)
    for flexible, kind in [(False, RequestHeaderV1), (True, RequestHeaderV2)]:
        stream = io.BytesIO()
        theirs = kind(
            request_api_key=i16(key),
            request_api_version=i16(version),
            correlation_id=i32(number),
            client_id=name,
        )
        entity_writer(kind)(stream, theirs)
        written = stream.getvalue()
        assert decode_request_header(memoryview(written), flexible) == (expected, len(written))


@pytest.mark.parametrize("flexible", [False, True])
def test_a_header_cut_anywhere_is_refused(flexible: bool) -> None:
    whole = _head(NAMED) + (TAGS if flexible else b"")
    for end in range(len(whole)):
        with pytest.raises(MalformedMessage):
            decode_request_header(memoryview(whole[:end]), flexible)


@pytest.mark.parametrize(
    "tags",
    [
        b"\xff\xff\xff\xff\x0f",
        b"\xff" * 6,
        b"\xe9\x07" + b"\x63\x00" * 1001,
        b"\x01\x00\xff\xff\xff\xff\x0f",
        b"\x01\x00\x09short",
    ],
    ids=["count", "endless count", "flood", "size", "cut"],
)
def test_hostile_tagged_fields_are_refused(tags: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_request_header(memoryview(_head(NULL) + tags), flexible=True)


def test_a_client_id_that_is_no_utf_8_does_not_cost_the_connection() -> None:
    frame = memoryview(_head(struct.pack(">h", 2) + b"a\xff"))
    assert decode_request_header(frame, flexible=False)[0].client_id == "a\ufffd"


@pytest.mark.parametrize("api", [pytest.param(api, id=api.stem) for api in BY_KEY.values()])
def test_an_answer_has_tagged_fields_in_its_header_if_it_is_flexible(api: Api) -> None:
    for version in range(api.first_readable, api.versions[1] + 1):
        expected = api.is_flexible(version) and api.key != 18
        assert has_flexible_response_header(api, version) == expected


def test_the_answer_to_api_versions_never_has_tagged_fields_in_its_header() -> None:
    assert API_VERSIONS.is_flexible(3)
    assert not has_flexible_response_header(API_VERSIONS, 3)
    assert not has_flexible_response_header(API_VERSIONS, 4)


def test_an_answer_begins_with_the_number_of_its_request() -> None:
    assert encode_response_header(77, flexible=False) == b"\x00\x00\x00\x4d"
    assert encode_response_header(-2, flexible=True) == b"\xff\xff\xff\xfe\x00"


@pytest.mark.parametrize("client_id", [None, "", "kwire", "ü"])
@pytest.mark.parametrize("version", [3, 4])
def test_a_request_of_ours_is_read_as_it_was_meant(client_id: str | None, version: int) -> None:
    asked = HeartbeatRequest(group_id="g", generation_id=5, member_id="m")
    frame = memoryview(b"".join(encode_request(HEARTBEAT, version, 8, client_id, asked)))
    header, position = decode_request_header(frame, HEARTBEAT.is_flexible(version))
    assert header == RequestHeader(12, version, 8, client_id)
    assert HEARTBEAT.decode_request(version)(frame, position) == (asked, len(frame))


@pytest.mark.parametrize("version", [3, 4])
def test_an_answer_is_read_with_its_number(version: int) -> None:
    answer = HeartbeatResponse(error_code=27)
    head = encode_response_header(8, has_flexible_response_header(HEARTBEAT, version))
    frame = memoryview(head + b"".join(HEARTBEAT.encode_response(version)(answer)))
    assert decode_response(HEARTBEAT, version, frame) == (8, answer)


def test_tagged_fields_in_the_header_of_an_answer_are_passed_over() -> None:
    body = b"".join(HEARTBEAT.encode_response(4)(HeartbeatResponse(error_code=27)))
    frame = memoryview(b"\x00\x00\x00\x08" + TAGS + body)
    assert decode_response(HEARTBEAT, 4, frame) == (8, HeartbeatResponse(error_code=27))


@pytest.mark.parametrize("frame", [b"", b"\x00\x00\x00", b"\x00\x00\x00\x01", b"\0\0\0\1\x01\0"])
def test_an_answer_without_a_whole_header_is_refused(frame: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_response(METADATA, 9, memoryview(frame))
