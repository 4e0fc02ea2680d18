"""Whatever a peer sends is a message or a `MalformedMessage`, soon, and never costs much memory.

The frames are those of every API and version we read, changed at every place where a count, a
length, a tag or a null may stand, and beyond that at random.
"""

import functools
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.apis import BY_KEY, FETCH, METADATA, Api
from kwire.codec.bounds import MEMORY_ALLOWANCE, MEMORY_RATIO
from kwire.codec.compile import Decoder
from kwire.codec.header import decode_request_header
from kwire.codec.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.codec.primitives import MalformedMessage, encode_uvarint
from kwire.tests.codec.oracles.corners import corners
from kwire.tests.codec.oracles.plain import from_plain

APIS = pytest.mark.parametrize("api", [pytest.param(api, id=api.stem) for api in BY_KEY.values()])
SIDES = ("request", "response")
MEBIBYTE = 1024 * 1024

# What a count or a length may be changed to, compact or not.
LENGTHS = [
    bytes.fromhex(written)
    for written in ("00", "7f", "ff", "ffffffff0f", "ffffffffff", "ffff7f", "80000000", "7fffffff")
]


@functools.cache
def _frames(api: Api) -> list[tuple[bytes, Decoder]]:
    """One full message of each side and version, and who reads it."""
    return list(_make_frames(api))


def _make_frames(api: Api) -> Iterator[tuple[bytes, Decoder]]:
    for version in range(api.first_readable, api.versions[1] + 1):
        for side in SIDES:
            cls = getattr(api, side)
            full = from_plain(cls, corners(cls, version)[0])
            frame = b"".join(getattr(api, f"encode_{side}")(version)(full))
            yield frame, getattr(api, f"decode_{side}")(version)


def _try(decode: Decoder, frame: bytes) -> None:
    with suppress(MalformedMessage):
        _, end = decode(memoryview(frame), 0)
        assert end <= len(frame)


@APIS
def test_a_frame_cut_anywhere_is_refused(api: Api) -> None:
    for frame, decode in _frames(api):
        assert decode(memoryview(frame), 0)[1] == len(frame)
        for end in range(len(frame)):
            with pytest.raises(MalformedMessage):
                decode(memoryview(frame)[:end], 0)


@APIS
def test_any_length_at_any_place_is_read_or_refused(api: Api) -> None:
    for frame, decode in _frames(api):
        for position in range(len(frame)):
            for length in LENGTHS:
                _try(decode, frame[:position] + length + frame[position + len(length) :])
                _try(decode, frame[:position] + length + frame[position:])


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(data=st.data())
def test_bytes_changed_moved_lost_or_added_are_read_or_refused(data: st.DataObject) -> None:
    api = data.draw(st.sampled_from(list(BY_KEY.values())))
    frame, decode = data.draw(st.sampled_from(_frames(api)))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(frame)))
        end = data.draw(st.integers(start, len(frame)))
        new = data.draw(st.binary(max_size=8) | st.just(frame[start:end] * 2))
        frame = frame[:start] + new + frame[end:]
    _try(decode, frame)


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(data=st.data())
def test_noise_is_read_or_refused(data: st.DataObject) -> None:
    api = data.draw(st.sampled_from(list(BY_KEY.values())))
    version = data.draw(st.integers(api.first_readable, api.versions[1]))
    noise = data.draw(st.binary(max_size=100))
    _try(api.decode_request(version), noise)
    _try(api.decode_response(version), noise)
    with suppress(MalformedMessage):
        decode_request_header(memoryview(noise), api.is_flexible(version))


def _cost(read: Callable[[memoryview, int], object], frame: bytes) -> tuple[int, float]:
    """The most bytes that reading took at a time, and the seconds it took."""
    view = memoryview(frame)
    started = time.process_time()
    with suppress(MalformedMessage):
        read(view, 0)
    seconds = time.process_time() - started
    tracemalloc.start()
    try:
        with suppress(MalformedMessage):
            read(view, 0)
        return tracemalloc.get_traced_memory()[1], seconds
    finally:
        tracemalloc.stop()


def _header(view: memoryview, _: int) -> object:
    return decode_request_header(view, flexible=True)


UNKNOWN_TAG = b"\x63\x00"
HEAD = b"\x00\x12\x00\x03\x00\x00\x00\x01\xff\xff"
FLOOD = encode_uvarint(MEBIBYTE) + UNKNOWN_TAG * MEBIBYTE
MANY_TAGS = encode_uvarint(1000) + UNKNOWN_TAG * 1000
CLUSTER_ID = b"\x00" + encode_uvarint(514) + encode_uvarint(513) + b"c" * 512
SAME_TAG = encode_uvarint(1000) + CLUSTER_ID * 1000
TOPIC = bytes(16) + b"\x00"

# Odd, but by the rules.
LEGAL_FLOODS = [
    pytest.param(
        METADATA.decode_request(12),
        encode_uvarint(101) + (TOPIC + MANY_TAGS) * 100 + b"\0\0\0",
        id="tags of many elements",
    ),
    pytest.param(FETCH.decode_request(12), bytes(25) + b"\1\1\1" + SAME_TAG, id="one tag for ever"),
]

FLOODS = [
    pytest.param(_header, HEAD + FLOOD, id="tags of a header"),
    pytest.param(
        _header, HEAD + b"\xff\xff\xff\xff\x0f" + UNKNOWN_TAG * MEBIBYTE, id="their count"
    ),
    pytest.param(
        _header, HEAD + b"\x01\x00\xff\xff\xff\xff\x0f" + bytes(MEBIBYTE), id="their size"
    ),
    pytest.param(METADATA.decode_request(12), b"\x00\x00\x00" + FLOOD, id="tags of a message"),
    pytest.param(
        METADATA.decode_request(12),
        encode_uvarint(2**32 - 1) + bytes(MEBIBYTE),
        id="count that no frame can hold",
    ),
    pytest.param(
        METADATA.decode_request(8), b"\x7f\xff\xff\xff" + bytes(MEBIBYTE), id="count of 31 bits"
    ),
    pytest.param(
        METADATA.decode_request(8),
        b"\x00\x07\xff\xff" + bytes(MEBIBYTE),
        id="count that is just too many for its weight",
    ),
    pytest.param(METADATA.decode_request(12), b"\xff" * MEBIBYTE, id="number without end"),
]


@pytest.mark.parametrize(("read", "frame"), [*FLOODS, *LEGAL_FLOODS])
def test_a_flood_costs_little_memory_and_time(read: Decoder, frame: bytes) -> None:
    peak, seconds = _cost(read, frame)
    assert peak <= 4 * len(frame) + MEBIBYTE
    assert seconds < 1


@pytest.mark.parametrize(("read", "frame"), FLOODS)
def test_a_flood_beyond_the_rules_is_refused(read: Decoder, frame: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read(memoryview(frame), 0)


@pytest.mark.parametrize(("read", "frame"), LEGAL_FLOODS)
def test_a_flood_within_the_rules_is_read(read: Decoder, frame: bytes) -> None:
    assert read(memoryview(frame), 0)[1] == len(frame)


@pytest.mark.parametrize(
    ("read", "frame"),
    [(_header, HEAD + FLOOD), (METADATA.decode_request(12), b"\x00\x00\x00" + FLOOD)],
    ids=["header", "message"],
)
def test_a_flood_of_tagged_fields_is_refused_before_any_is_read(
    read: Decoder, frame: bytes
) -> None:
    with pytest.raises(MalformedMessage, match="1048576 tagged fields"):
        read(memoryview(frame), 0)
    assert _cost(read, frame)[0] < 64 * 1024


def test_the_densest_frame_stays_within_what_it_may_unfold_to() -> None:
    topics = encode_uvarint(2**16) + b"\x01\x01\x00" * (2**16 - 1)
    frame = bytes(25) + topics + b"\x01\x01\x00"
    peak, seconds = _cost(FETCH.decode_request(12), frame)
    assert peak <= MEMORY_RATIO * len(frame) + MEMORY_ALLOWANCE + MEBIBYTE
    assert seconds < 1
    with pytest.raises(MalformedMessage, match="too many topics"):
        FETCH.decode_request(12)(memoryview(frame), 0)


def test_a_follower_may_fetch_twenty_thousand_partitions() -> None:
    partitions = [FetchPartition(partition=index, fetch_offset=2**40) for index in range(20_000)]
    asked = FetchRequest(topics=[FetchTopic(topic="orders", partitions=partitions)])
    frame = memoryview(b"".join(FETCH.encode_request(12)(asked)))
    assert FETCH.decode_request(12)(frame, 0) == (asked, len(frame))
