"""From frames to answers, on a whole node: what is answered, refused, or hung up on."""

import contextlib
import logging
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec import apis
from kwire.codec.apis import API_VERSIONS, METADATA, PRODUCE, Api
from kwire.codec.header import decode_response, encode_request
from kwire.codec.messages.api_versions import ApiVersion, ApiVersionsRequest
from kwire.codec.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.codec.messages.metadata import MetadataRequest
from kwire.codec.messages.produce import ProducePartition, ProduceRequest, ProduceTopic
from kwire.errors import ErrorCode
from kwire.handlers import metadata
from kwire.handlers.context import HangUp, Peer, RequestContext
from kwire.handlers.table import ROUTES
from kwire.server import dispatch
from kwire.server.dispatch import Conversation, Dispatch, LaterAnswer
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.server.loops import Client, StepLoop

A_PEER = Peer("127.0.0.1", 50000, "PLAINTEXT")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[OpenNode]:
    opened = OpenNode(tmp_path / "data")
    yield opened
    opened.close()


@pytest.fixture
def conversation(node: OpenNode) -> Conversation:
    return Dispatch(node.node).conversation(A_PEER)


def _frame(
    api: Api, version: int, request: Any, client_id: str | None = "me", correlation_id: int = 7
) -> memoryview:
    return memoryview(
        bytearray().join(encode_request(api, version, correlation_id, client_id, request))
    )


def _answered(conversation: Conversation, frame: memoryview) -> bytes:
    """The answer without its length, which is checked."""
    answer = conversation.answer(frame)
    assert isinstance(answer, tuple)
    pieces, size = answer
    whole = b"".join(map(bytes, pieces))
    assert len(whole) == size == struct.unpack_from(">i", whole)[0] + 4
    return whole[4:]


def _ask(
    conversation: Conversation, api: Api, version: int, request: Any, **options: Any
) -> tuple[int, Any]:
    frame = _frame(api, version, request, **options)
    return decode_response(api, version, memoryview(_answered(conversation, frame)))


@pytest.mark.parametrize("version", [0, 4, 8, 9, 13])
def test_an_answer_carries_the_number_of_its_request(
    conversation: Conversation, version: int
) -> None:
    number, answer = _ask(
        conversation, METADATA, version, MetadataRequest(topics=[]), correlation_id=-5
    )
    assert number == -5
    assert [broker.node_id for broker in answer.brokers] == [1]


@pytest.mark.parametrize("version", range(5))
def test_the_answer_to_api_versions_has_the_oldest_header(
    conversation: Conversation, version: int
) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    number, answer = _ask(conversation, API_VERSIONS, version, request)
    assert (number, answer.error_code) == (7, ErrorCode.NONE)


@pytest.mark.parametrize("version", [5, 99, 32767, -1])
def test_an_unknown_version_of_api_versions_is_answered_in_version_0(
    conversation: Conversation, version: int
) -> None:
    frame = memoryview(bytearray(struct.pack(">hhih", 18, version, 7, -1)))
    answered = memoryview(_answered(conversation, frame))
    number, answer = decode_response(API_VERSIONS, 0, answered)
    assert number == 7
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert answer.api_keys == [ApiVersion(api_key=18, min_version=0, max_version=4)]


@pytest.mark.parametrize(
    ("key", "version"), [(9999, 0), (-1, 0), (0, 2), (0, 14), (3, -1), (1, 3), (71, 0)]
)
def test_what_is_not_served_is_hung_up_on(
    conversation: Conversation, key: int, version: int
) -> None:
    with pytest.raises(HangUp):
        conversation.answer(memoryview(struct.pack(">hhih", key, version, 7, -1)))


@pytest.mark.parametrize("size", range(10))
def test_a_request_without_a_header_is_hung_up_on(conversation: Conversation, size: int) -> None:
    frame = _frame(METADATA, 9, MetadataRequest(topics=[]))
    with pytest.raises(HangUp):
        conversation.answer(frame[:size])


def test_bytes_that_are_no_request_never_become_a_bug(
    conversation: Conversation, caplog: pytest.LogCaptureFixture
) -> None:
    served = [
        struct.pack(">hhi", key, version, 1)
        for key, route in ROUTES.items()
        for version in range(route.api.first_readable, route.api.versions[1] + 1)
    ]

    @given(head=st.sampled_from(served), body=st.binary(max_size=100))
    def try_one(head: bytes, body: bytes) -> None:
        with contextlib.suppress(HangUp):
            conversation.answer(memoryview(bytearray(head + body)))

    try_one()
    assert "request failed" not in caplog.text


@pytest.mark.parametrize("client_id", [None, "", "me", "x" * 127, "y" * 128, "é" * 3000])
@pytest.mark.parametrize("version", [8, 9])
def test_every_client_id_is_read(
    node: OpenNode, version: int, client_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def handle(ctx: RequestContext, request: MetadataRequest) -> Any:
        seen.append(ctx.client_id)
        return metadata.refuse(ctx, request, ErrorCode.NONE)

    monkeypatch.setattr(metadata, "handle", handle)
    conversation = Dispatch(node.node).conversation(A_PEER)
    for sent in (client_id, "another", client_id, client_id):
        frame = _frame(METADATA, version, MetadataRequest(topics=[]), client_id=sent)
        conversation.answer(frame)
    assert seen == [client_id, "another", client_id, client_id]


def test_unknown_tags_in_the_header_are_passed_over(conversation: Conversation) -> None:
    plain = bytes(_frame(METADATA, 9, MetadataRequest(topics=[])))
    head, body = plain[:12], plain[13:]
    frame = memoryview(bytearray(head + b"\x01\x63\x02ab" + body))
    number, _ = decode_response(METADATA, 9, memoryview(_answered(conversation, frame)))
    assert number == 7


def test_a_bug_is_told_to_the_client_and_logged_once(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(ctx: RequestContext, request: MetadataRequest) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(metadata, "handle", handle)
    conversation = Dispatch(node.node).conversation(A_PEER)
    with caplog.at_level(logging.ERROR):
        _, answer = _ask(conversation, METADATA, 13, MetadataRequest(topics=[]))
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is not None


def test_a_refusal_is_told_in_the_form_of_the_api(conversation: Conversation) -> None:
    request = ProduceRequest(acks=5, topic_data=[])
    _, answer = _ask(conversation, PRODUCE, 9, request)
    assert answer.responses == []


def test_a_client_that_wants_no_answer_gets_none(conversation: Conversation) -> None:
    frame = _frame(PRODUCE, 9, ProduceRequest(acks=0, topic_data=[]))
    assert conversation.answer(frame) is None


def test_an_answer_that_comes_later_is_encoded_when_it_comes(
    node: OpenNode, conversation: Conversation
) -> None:
    node.create("orders")
    wanted = [FetchPartition(partition=0, partition_max_bytes=100)]
    request = FetchRequest(
        max_wait_ms=100, min_bytes=1, topics=[FetchTopic(topic="orders", partitions=wanted)]
    )
    answer = conversation.answer(_frame(apis.FETCH, 12, request))
    assert isinstance(answer, LaterAnswer)
    came: list[LaterAnswer] = []
    answer.then(came.append)
    assert answer.answer is None
    node.scheduler.pass_time(100)
    (known,) = came
    assert known.answer is not None
    number, _ = decode_response(apis.FETCH, 12, memoryview(bytes(known.answer[0][0])[4:]))
    assert number == 7


def test_an_answer_that_waits_for_the_disk_holds_back_those_behind_it(node: OpenNode) -> None:
    node.create("durable", flush_messages="1")
    client = Client(Dispatch(node.node).conversation(A_PEER))
    try:
        durable = _produce_frame("durable", correlation_id=1)
        plain = bytes(_frame(METADATA, 9, MetadataRequest(topics=[]), correlation_id=2))
        client.send(durable, plain, durable)
        assert client.receive() == []
        node.scheduler.end_turn()
        numbers = [struct.unpack_from(">i", frame)[0] for frame in client.receive()]
        assert numbers == [1, 2, 1]
        assert node.node.hosted.find("durable", 0).log.recovery_point == 2
    finally:
        client.close()


def test_repeated_requests_are_answered_like_the_first(
    node: OpenNode, conversation: Conversation
) -> None:
    node.create("orders", partitions=2)
    landed = []
    for partition in (0, 0, 1, 0):
        frame = memoryview(bytearray(_produce_frame("orders", partition=partition)))
        _, answer = decode_response(PRODUCE, 9, memoryview(_answered(conversation, frame)))
        (one,) = answer.responses[0].partition_responses
        landed.append((one.index, one.error_code, one.base_offset))
    assert landed == [(0, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 2)]


def test_a_client_that_never_repeats_itself_is_not_learned_for_ever(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons: list[memoryview] = []

    def learn(frame: memoryview, *rest: object) -> None:
        lessons.append(frame)

    monkeypatch.setitem(dispatch.LEARNERS, PRODUCE, learn)
    conversation = Dispatch(node.node).conversation(A_PEER)
    for _ in range(dispatch.LESSONS + 5):
        conversation.answer(memoryview(bytearray(_produce_frame("nowhere"))))
    assert len(lessons) == dispatch.LESSONS


def test_nothing_of_a_repeated_request_is_kept(node: OpenNode, conversation: Conversation) -> None:
    node.create("orders")
    for _ in range(3):
        buffer = bytearray(_produce_frame("orders"))
        frame = memoryview(buffer)
        conversation.answer(frame)
        frame.release()
        buffer.clear()


def test_a_fetch_is_answered_in_the_turn_of_the_append_and_after_the_producer(
    node: OpenNode,
) -> None:
    node.create("orders")
    dispatch, loop = Dispatch(node.node), StepLoop()
    reader = Client(dispatch.conversation(A_PEER), loop=loop)
    writer = Client(dispatch.conversation(A_PEER), loop=loop)
    try:
        wanted = [FetchPartition(partition=0, partition_max_bytes=1000)]
        topics = [FetchTopic(topic="orders", partitions=wanted)]
        request = FetchRequest(max_wait_ms=10_000, min_bytes=1, topics=topics)
        reader.send(bytes(_frame(apis.FETCH, 12, request)))
        writer.send(_produce_frame("orders"))
        assert len(writer.receive()) == 1
        assert reader.receive() == []
        node.scheduler.end_turn()
        (frame,) = reader.receive()
        _, answer = decode_response(apis.FETCH, 12, memoryview(frame))
        assert answer.responses[0].partitions[0].high_watermark == 1
    finally:
        reader.close()
        writer.close()


def _produce_frame(topic: str, correlation_id: int = 7, partition: int = 0) -> bytes:
    batch = a_batch(1, size_bytes=200)
    data = [ProducePartition(index=partition, records=memoryview(batch))]
    request = ProduceRequest(acks=1, topic_data=[ProduceTopic(name=topic, partition_data=data)])
    return bytes(_frame(PRODUCE, 9, request, correlation_id=correlation_id))
