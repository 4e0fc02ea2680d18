"""Whole families of bad requests: cut anywhere, or of any version that nobody offered."""

import pytest

from compat_tests.bad_input.rows import Ground
from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.watch import Watch
from compat_tests.bad_input.wire import (
    API_VERSIONS,
    FETCH,
    LIST_OFFSETS,
    METADATA,
    Batch,
    Reader,
    array,
    create_topic,
    frame,
    i8,
    i32,
    i64,
    produce,
    request,
    text,
)

MB = 1 << 20
HONEST = {
    "Produce": produce("plain.topic", Batch().build(0)),
    "Metadata": request(METADATA, 4, array(text("a")) + i8(0)),
    "CreateTopics": create_topic("cut", configs=[("retention.ms", "1000")]),
    "ListOffsets": request(
        LIST_OFFSETS, 2, i32(-1) + i8(0) + array(text("a") + array(i32(0) + i64(-1)))
    ),
    "Fetch": request(
        FETCH,
        4,
        i32(-1) + i32(0) * 3 + i8(0) + array(text("a") + array(i32(0) + i64(0) + i32(1000))),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_request_cut_anywhere_ends_its_connection(
    name: str, kwire_ground: Ground, watch: Watch
) -> None:
    content = HONEST[name][4:]
    for length in range(len(content)):
        outcome = exchange(kwire_ground.address, frame(content[:length]))
        assert outcome.closed, f"cut to {length} of {len(content)} bytes: {outcome}"
        watch.check(outcome.port, 8 * MB)


def test_a_frame_that_never_comes_whole_ends_with_its_sender(
    kwire_ground: Ground, watch: Watch
) -> None:
    for length in (1, 3, 4, 5, 40):
        outcome = exchange(kwire_ground.address, HONEST["Produce"][:length], then_end=True)
        assert outcome.closed, str(outcome)
        watch.check(outcome.port, 8 * MB)


def test_versions_beyond_what_is_offered_end_the_connection(
    kwire_ground: Ground, watch: Watch
) -> None:
    offered = _offered_versions(kwire_ground.address)
    assert len(offered) >= 15
    for key in range(100):
        low, high = offered.get(key, (0, -1))
        for version in {low - 1, high + 1, high + 1000, -(2**15)}:
            if key == API_VERSIONS:
                continue  # Its versions are answered, as the tables have it.
            outcome = exchange(kwire_ground.address, request(key, version, bytes(200)))
            assert outcome.closed, f"key {key} version {version}: {outcome}"
            watch.check(outcome.port, 8 * MB)


def _offered_versions(address: str) -> dict[int, tuple[int, int]]:
    answer = exchange(address, request(API_VERSIONS, 0)).answer
    assert answer is not None
    reader = Reader(answer)
    assert reader.i16() == 0
    return {reader.i16(): (reader.i16(), reader.i16()) for _ in range(reader.i32())}
