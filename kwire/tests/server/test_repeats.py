"""The fast lane reads what the general lane reads, or leaves it alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.apis import FETCH, PRODUCE, Api
from kwire.codec.header import decode_request_header, encode_request
from kwire.codec.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.codec.messages.produce import ProducePartition, ProduceRequest, ProduceTopic
from kwire.server.repeats import (
    MOST_LEARNED_BYTES,
    RepeatedFetch,
    RepeatedProduce,
    learn_fetch,
    learn_produce,
)

TOPIC_IDS = (b"A" * 16, b"B" * 16)
TRAILERS = (b"", b"\0", b"\0\0\0", b"more")
SIZES = (0, 1, 125, 126, 127, 128, 200, 16_380, 16_381, 16_382, 16_383, 16_384, 20_000)


def _frame(api: Api, version: int, request: Any, client_id: str | None = "me") -> memoryview:
    return memoryview(bytearray().join(encode_request(api, version, 7, client_id, request)))


def _decoded(api: Api, version: int, frame: memoryview) -> tuple[Any, int]:
    _, position = decode_request_header(frame, api.is_flexible(version))
    request, _ = api.decode_request(version)(frame, position)
    return request, position


def _learned(api: Api, version: int, frame: memoryview) -> RepeatedProduce | RepeatedFetch | None:
    request, position = _decoded(api, version, frame)
    learn: Any = learn_produce if api is PRODUCE else learn_fetch
    decode = api.decode_request(version)
    learned: RepeatedProduce | RepeatedFetch | None = learn(
        frame, position, request, decode, api.is_flexible(version)
    )
    return learned


def _produce(
    *,
    name: str = "orders",
    topic_id: bytes = TOPIC_IDS[0],
    index: int = 0,
    records: bytes | None = b"r" * 200,
    copies: int = 1,
    **options: Any,
) -> ProduceRequest:
    data = [
        ProducePartition(index=index, records=None if records is None else memoryview(records))
        for _ in range(copies)
    ]
    topic = ProduceTopic(name=name, topic_id=topic_id, partition_data=data)
    return ProduceRequest(**{"acks": 1, "timeout_ms": 5, "topic_data": [topic], **options})


def _fetch(
    *,
    name: str = "orders",
    topic_id: bytes = TOPIC_IDS[0],
    offset: int = 0,
    copies: int = 1,
    max_bytes: int = 100,
    **options: Any,
) -> FetchRequest:
    wanted = [
        FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
        for _ in range(copies)
    ]
    topic = FetchTopic(topic=name, topic_id=topic_id, partitions=wanted)
    return FetchRequest(**{"max_wait_ms": 500, "min_bytes": 1, "topics": [topic], **options})


produces = st.builds(
    _produce,
    name=st.sampled_from(["orders", "other!", "x" * 130]),
    topic_id=st.sampled_from(TOPIC_IDS),
    index=st.sampled_from([0, 1, 300, 2**31 - 1, -1]),
    records=st.none() | st.sampled_from([b"r" * size for size in SIZES]),
    copies=st.sampled_from([1, 1, 1, 0, 2]),
    acks=st.sampled_from([1, 1, -1, 0]),
    transactional_id=st.sampled_from([None, None, "mine"]),
)
fetches = st.builds(
    _fetch,
    name=st.sampled_from(["orders", "other!"]),
    topic_id=st.sampled_from(TOPIC_IDS),
    offset=st.integers(0, 2**62) | st.sampled_from([0, 1, 100, 500, -1]),
    copies=st.sampled_from([1, 1, 1, 0, 2]),
    max_bytes=st.sampled_from([0, 100]),
    session_epoch=st.sampled_from([-1, -1, 0, 5]),
)


@given(
    requests=st.lists(produces, min_size=2, max_size=5),
    version=st.integers(3, 13),
    client_ids=st.lists(st.sampled_from(["me", "me", "xx", None]), min_size=5, max_size=5),
    trailers=st.lists(st.sampled_from(TRAILERS), min_size=5, max_size=5),
)
def test_a_repeated_produce_is_read_as_the_codec_reads_it(
    requests: list[ProduceRequest],
    version: int,
    client_ids: list[str | None],
    trailers: list[bytes],
) -> None:
    _compare(PRODUCE, version, requests, client_ids, trailers)


@given(
    requests=st.lists(fetches, min_size=2, max_size=5),
    version=st.integers(4, 18),
    client_ids=st.lists(st.sampled_from(["me", "me", "xx", None]), min_size=5, max_size=5),
    trailers=st.lists(st.sampled_from(TRAILERS), min_size=5, max_size=5),
)
def test_a_repeated_fetch_is_read_as_the_codec_reads_it(
    requests: list[FetchRequest], version: int, client_ids: list[str | None], trailers: list[bytes]
) -> None:
    _compare(FETCH, version, requests, client_ids, trailers)


def _compare(
    api: Api, version: int, requests: Any, client_ids: list[str | None], trailers: list[bytes]
) -> None:
    """Learn each request in turn; what the lesson reads of any other must be what it says."""
    frames = [
        memoryview(bytearray(bytes(_frame(api, version, request, client_id)) + trailer))
        for request, client_id, trailer in zip(requests, client_ids, trailers, strict=False)
    ]
    for first in frames:
        learned = _learned(api, version, first)
        if learned is None:
            continue
        for frame in frames:
            read = learned.read(frame)
            assert read is None or read == _decoded(api, version, frame)[0]


@pytest.mark.parametrize("version", range(3, 14))
def test_another_batch_for_another_partition_is_a_repetition(version: int) -> None:
    learned = _learned(PRODUCE, version, _frame(PRODUCE, version, _produce()))
    assert learned is not None
    again = _frame(PRODUCE, version, _produce(index=9, records=b"s" * 300))
    assert learned.read(again) == _decoded(PRODUCE, version, again)[0]


@pytest.mark.parametrize("version", range(4, 19))
def test_another_offset_is_a_repetition(version: int) -> None:
    learned = _learned(FETCH, version, _frame(FETCH, version, _fetch(offset=0)))
    assert learned is not None
    again = _frame(FETCH, version, _fetch(offset=2**40 + 7))
    assert learned.read(again) == _decoded(FETCH, version, again)[0]


@pytest.mark.parametrize("version", [3, 8, 9, 12])
def test_other_requests_are_none(version: int) -> None:
    learned = _learned(PRODUCE, version, _frame(PRODUCE, version, _produce()))
    assert learned is not None
    for other in (_produce(name="other!"), _produce(acks=0), _produce(copies=2)):
        assert learned.read(_frame(PRODUCE, version, other)) is None
    for size in (0, 5, 12, 30):
        assert learned.read(_frame(PRODUCE, version, _produce())[:size]) is None


@pytest.mark.parametrize("version", [9, 13])
def test_what_belongs_to_a_transaction_is_always_decoded(version: int) -> None:
    frame = _frame(PRODUCE, version, _produce(transactional_id="mine"))
    assert _learned(PRODUCE, version, frame) is None


@pytest.mark.parametrize("version", [7, 12, 16])
def test_fetches_of_a_session_are_always_decoded(version: int) -> None:
    frame = _frame(FETCH, version, _fetch(session_id=3, session_epoch=4))
    assert _learned(FETCH, version, frame) is None


@pytest.mark.parametrize(("api", "request_"), [(PRODUCE, _produce()), (FETCH, _fetch())])
def test_a_request_with_much_around_it_is_not_looked_through(api: Api, request_: Any) -> None:
    frame = memoryview(bytearray(bytes(_frame(api, 12, request_)) + bytes(MOST_LEARNED_BYTES)))
    assert _learned(api, 12, frame) is None
