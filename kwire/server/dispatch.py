"""From a frame to an answer: look up the route, decode, handle, and refuse what cannot be handled.

As in Kafka, an unknown API, an unsupported version or bytes that do not decode close the connection
without an answer. The one exception is ApiVersions: a version above ours is answered in version 0
with UNSUPPORTED_VERSION and the range of ApiVersions alone, because clients negotiate on it.
"""

import logging
import struct
from collections.abc import Callable
from typing import Any

from kwire.codec import apis
from kwire.codec.header import decode_request_header, encode_response_header
from kwire.codec.primitives import MalformedMessage
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import HangUp, Node, Peer, RequestContext
from kwire.handlers.table import ROUTES, Route
from kwire.server.outbox import Buffer
from kwire.tasks import Later

_API_VERSIONS_KEY = apis.API_VERSIONS.key
_start = struct.Struct(">hhi").unpack_from
_length = struct.Struct(">i").pack

_log = logging.getLogger(__name__)


class Answer:
    """A response with its place: known already, or coming later."""

    __slots__ = ("_correlation_id", "_route", "_version", "_waits_for", "response")

    def __init__(self, route: Route, version: int, correlation_id: int, result: Any) -> None:
        self._route = route
        self._version = version
        self._correlation_id = correlation_id
        self._waits_for: Later[Any] | None = result if isinstance(result, Later) else None
        self.response = None if self._waits_for is not None else result

    @property
    def is_ready(self) -> bool:
        return self._waits_for is None or self._waits_for.done

    def when_ready(self, callback: Callable[[], None]) -> None:
        if self._waits_for is not None:
            self._waits_for.then(lambda _: callback())

    def abandon(self) -> None:
        if self._waits_for is not None:
            self._waits_for.abandon()

    def encode(self) -> list[Buffer]:
        """The whole answer frame as buffers: length, header, body."""
        if self._waits_for is not None:
            self.response = self._waits_for.value
        api = self._route.api
        body = api.encode_response(self._version)(self.response)
        # Clients must read this answer before they know what we speak: its header is always v0.
        is_flexible = api.key != _API_VERSIONS_KEY and api.is_flexible(self._version)
        head = encode_response_header(self._correlation_id, is_flexible)
        body.insert(0, _length(len(head) + sum(map(len, body))) + head)
        return body


class Dispatch:
    def __init__(self, node: Node) -> None:
        self._node = node

    def answer(self, peer: Peer, frame: memoryview) -> Answer | None:
        """The answer to one request; `None` when the client wants none. Raises `HangUp`."""
        if len(frame) < 8:
            raise HangUp(f"a request of {len(frame)} bytes has no header")
        key, version, correlation_id = _start(frame)
        route = ROUTES.get(key)
        if route is None:
            raise HangUp(f"unknown api key {key}")
        if not route.api.reads(version):
            return _unsupported(route, version, correlation_id)
        try:
            header, position = decode_request_header(frame, route.api.is_flexible(version))
            request, _ = route.api.decode_request(version)(frame, position)
        except MalformedMessage as error:
            raise HangUp(f"malformed {route.api.name} v{version}: {error}") from None
        ctx = RequestContext(self._node, version, header.client_id, peer)
        result = _handle(route, ctx, request)
        return None if result is None else Answer(route, version, correlation_id, result)


def _handle(route: Route, ctx: RequestContext, request: Any) -> Any:
    try:
        return route.handle(ctx, request)
    except KwireError as refusal:
        return route.refuse(ctx, request, refusal.code)
    except HangUp:
        raise
    except Exception:
        # A bug of ours: the client is told so, and everybody else is served on.
        _log.exception("request failed api=%s version=%d", route.api.name, ctx.version)
        return route.refuse(ctx, request, ErrorCode.UNKNOWN_SERVER_ERROR)


def _unsupported(route: Route, version: int, correlation_id: int) -> Answer:
    if route.api.key != _API_VERSIONS_KEY:
        raise HangUp(f"unsupported version {version} of {route.api.name}")
    from kwire.handlers.api_versions import unsupported_version

    return Answer(route, 0, correlation_id, unsupported_version())
