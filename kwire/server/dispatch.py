"""From a frame to an answer: look up the route, decode, handle, and refuse what cannot be handled.

As in Kafka, an unknown API, an unsupported version or bytes that do not decode close the connection
without an answer. The one exception is ApiVersions: a version above ours is answered in version 0
with UNSUPPORTED_VERSION and the range of ApiVersions alone, because clients negotiate on it.
"""

import logging
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kwire.codec import apis
from kwire.codec.apis import Api
from kwire.codec.header import decode_request_header, has_flexible_response_header
from kwire.codec.primitives import SHORT_BYTES, MalformedMessage, skip_tags
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import HangUp, Node, Peer, RequestContext
from kwire.handlers.table import ROUTES
from kwire.server.outbox import Piece
from kwire.server.repeats import RepeatedFetch, RepeatedProduce, learn_fetch, learn_produce
from kwire.tasks import Later, Scheduler

_start = struct.Struct(">Iih").unpack_from
_START_BYTES = 10
_pack_head = struct.Struct(">ii").pack
_pack_flexible_head = struct.Struct(">iix").pack

LESSONS = 64
"""How many requests of a connection are looked at for what may repeat; looking costs time."""

LEARNERS: dict[Api, Callable[..., RepeatedProduce | RepeatedFetch | None]] = {
    apis.PRODUCE: learn_produce,
    apis.FETCH: learn_fetch,
}

_log = logging.getLogger(__name__)

Answer = tuple[list[Piece], int]
"""A whole frame and its size."""


class Lane:
    """Everything that requests of one API and version need, looked up with the first of them."""

    __slots__ = (
        "api",
        "decode",
        "encode",
        "handle",
        "head_bytes",
        "is_flexible",
        "learn",
        "pack_head",
        "refuse",
        "version",
    )

    def __init__(self, api: Api, version: int) -> None:
        route = ROUTES[api.key]
        self.api = api
        self.version = version
        self.is_flexible = api.is_flexible(version)
        self.decode = api.decode_request(version)
        self.encode = api.encode_response(version)
        self.learn = LEARNERS.get(api)
        self.handle = route.handle
        self.refuse = route.refuse
        self.pack_head = _pack_head
        self.head_bytes = 4
        if has_flexible_response_header(api, version):
            self.pack_head = _pack_flexible_head
            self.head_bytes = 5

    def frame(self, correlation_id: int, response: Any) -> Answer:
        """The whole answer as buffers: length, header, body."""
        pieces: list[Piece] = self.encode(response)  # type: ignore[assignment]  # may hold slices
        size = self.head_bytes + (len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces)))
        pieces[0] = self.pack_head(size, correlation_id) + pieces[0]  # type: ignore[operator]
        return pieces, size + 4


class LaterAnswer:
    """An answer that is not known yet; encoded once it is, even if others go out before it."""

    __slots__ = ("_encode", "_waits_for", "answer", "is_broken")

    def __init__(self, waits_for: Later[Any], encode: Callable[[Any], Answer]) -> None:
        self._waits_for = waits_for
        self._encode = encode
        self.answer: Answer | None = None
        self.is_broken = False
        """Whether a bug of ours made the answer impossible."""

    def then(self, callback: Callable[["LaterAnswer"], None]) -> None:
        def known(response: Any) -> None:
            try:
                self.answer = self._encode(response)
            except Exception as error:
                # Another client's request may have completed this answer: it must not suffer.
                failed(error)
            else:
                callback(self)

        def failed(error: Exception) -> None:
            _log.error("answer failed", exc_info=error)
            self.is_broken = True
            callback(self)

        self._waits_for.then(known, failed)

    def abandon(self) -> None:
        self._waits_for.abandon()


class Dispatch:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._lanes: dict[int, Lane] = {}

    @property
    def scheduler(self) -> Scheduler:
        return self._node.scheduler

    def conversation(self, peer: Peer) -> "Conversation":
        return Conversation(self._node, self._lanes, peer)


class _Known(NamedTuple):
    """A request that may come again, and what it needs then."""

    repeated: RepeatedProduce | RepeatedFetch
    lane: Lane
    ctx: RequestContext


class Conversation:
    """The requests of one connection, one after the other."""

    __slots__ = (
        "_client_id",
        "_client_id_bytes",
        "_contexts",
        "_lanes",
        "_lessons_left",
        "_node",
        "_peer",
        "_repeats",
    )

    def __init__(self, node: Node, lanes: dict[int, Lane], peer: Peer) -> None:
        self._node = node
        self._lanes = lanes
        self._peer = peer
        # Clients give the same id with each request: it is decoded once, and so is the context.
        self._client_id: str | None = None
        self._client_id_bytes: bytes | None = None
        self._contexts: dict[int, RequestContext] = {}
        self._repeats: dict[int, _Known] = {}
        self._lessons_left = LESSONS

    def answer(self, frame: memoryview) -> Answer | LaterAnswer | None:
        """The answer to one request; `None` when the client wants none. Raises `HangUp`."""
        try:
            number, correlation_id, length = _start(frame)
        except struct.error:
            raise HangUp("a request without a header") from None
        known = self._repeats.get(number)
        if known is not None and (request := known.repeated.read(frame)) is not None:
            answer = _answer(known.lane, known.ctx, correlation_id, request)
            known.repeated.let_go()
            return answer
        try:
            lane = self._lanes.get(number)
            if lane is None:
                lane = self._open_lane(number)
                if lane is None:
                    return _unsupported_api_versions(correlation_id)
            if 0 <= length < 128:
                if SHORT_BYTES[length](frame, _START_BYTES)[0] != self._client_id_bytes:
                    self._learn_client_id(frame, lane)
                position = _START_BYTES + length
                if lane.is_flexible:
                    position = skip_tags(frame, position) if frame[position] else position + 1
            else:
                position = self._learn_client_id(frame, lane)
            request, _ = lane.decode(frame, position)
        except (struct.error, IndexError):
            raise HangUp("a request without a whole header") from None
        except MalformedMessage as error:
            raise HangUp(f"malformed request: {error}") from None
        ctx = self._contexts.get(number)
        if ctx is None:
            ctx = RequestContext(self._node, lane.version, self._client_id, self._peer)
            self._contexts[number] = ctx
        if lane.learn is not None and self._lessons_left:
            self._learn_request(number, lane, ctx, frame, position, request)
        return _answer(lane, ctx, correlation_id, request)

    def _learn_request(
        self,
        number: int,
        lane: Lane,
        ctx: RequestContext,
        frame: memoryview,
        position: int,
        request: Any,
    ) -> None:
        """Be prepared for the same request to come again."""
        assert lane.learn is not None
        self._lessons_left -= 1
        repeated = lane.learn(frame, position, request, lane.decode, lane.is_flexible)
        if repeated is not None:
            self._repeats[number] = _Known(repeated, lane, ctx)

    def _open_lane(self, number: int) -> Lane | None:
        """The lane of an API and version; `None` for a version of ApiVersions we do not know."""
        key, version = struct.unpack(">hh", struct.pack(">I", number))
        route = ROUTES.get(key)
        if route is None:
            raise HangUp(f"unknown api key {key}")
        if not route.api.reads(version):
            if route.api is apis.API_VERSIONS:
                return None
            raise HangUp(f"unsupported version {version} of {route.api.name}")
        lane = self._lanes[number] = Lane(route.api, version)
        return lane

    def _learn_client_id(self, frame: memoryview, lane: Lane) -> int:
        """Remember a client id that was not seen before; returns where the message begins."""
        header, position = decode_request_header(frame, lane.is_flexible)
        self._client_id = header.client_id
        self._client_id_bytes = None if header.client_id is None else header.client_id.encode()
        self._contexts.clear()
        return position


def _answer(
    lane: Lane, ctx: RequestContext, correlation_id: int, request: Any
) -> Answer | LaterAnswer | None:
    try:
        result = lane.handle(ctx, request)
        if result.__class__ is Later and not result.done:
            return LaterAnswer(result, partial(lane.frame, correlation_id))
        if result is None:
            return None
        response = result.value if result.__class__ is Later else result
        return lane.frame(correlation_id, response)
    except HangUp:
        raise
    except KwireError as refusal:
        code = refusal.code
    except Exception:
        # A bug of ours: the client is told so, and everybody else is served on.
        _log.exception("request failed api=%s version=%d", lane.api.name, ctx.version)
        code = ErrorCode.UNKNOWN_SERVER_ERROR
    response = lane.refuse(ctx, request, code)
    return None if response is None else lane.frame(correlation_id, response)


def _unsupported_api_versions(correlation_id: int) -> Answer:
    from kwire.handlers.api_versions import unsupported_version

    return Lane(apis.API_VERSIONS, 0).frame(correlation_id, unsupported_version())
