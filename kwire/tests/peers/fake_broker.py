"""A socket that speaks Kafka's protocol through our own codec, for tests of us as a client.

What is answered is decided by plain functions, one for each API; a test may put its own in their
place to play a broker that refuses, moves or breaks off.
"""

import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from kwire.codec.apis import API_VERSIONS, BY_KEY, Api
from kwire.codec.header import (
    decode_request_header,
    encode_response_header,
    has_flexible_response_header,
)
from kwire.codec.messages.api_versions import ApiVersion, ApiVersionsResponse
from kwire.errors import ErrorCode
from kwire.peers.connection import Address

Answering = Callable[[Any], Any]
"""From a request to its answer; None sends nothing."""


class BreakOff(Exception):
    """Raised by an answering function: the connection ends here."""


class FakeBroker:
    """Serves on a port of its own until it is closed."""

    def __init__(self, node_id: int = 1) -> None:
        self.node_id = node_id
        self.answers: dict[Api, Answering] = {API_VERSIONS: lambda _: self._versions()}
        self.newest: dict[Api, int] = {}
        self.asked: list[Any] = []
        self.connections = 0
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    @property
    def address(self) -> Address:
        host, port = self._server.server_address[:2]
        return Address(str(host), int(port))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked_for(self, api: Api) -> list[Any]:
        """The requests of one kind that came, in order."""
        return [request for request in self.asked if isinstance(request, api.request)]

    def wait_for(self, api: Api) -> threading.Event:
        """An event that is set once a request of that kind has been served."""
        served = threading.Event()
        answer = self.answers[api]

        def answer_and_tell(request: Any) -> Any:
            try:
                return answer(request)
            finally:
                served.set()

        self.answers[api] = answer_and_tell
        return served

    def reply(self, frame: memoryview) -> bytes | None:
        """The whole answer to one request without its length."""
        key, version, correlation_id = struct.unpack_from(">hhi", frame)
        api = BY_KEY[key]
        if version > self.newest.get(api, api.versions[1]):
            assert api is API_VERSIONS, "a client must not ask for more than is served"
            refusal = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
            return _encode(api, 0, correlation_id, refusal)
        _, position = decode_request_header(frame, api.is_flexible(version))
        request, _ = api.decode_request(version)(frame, position)
        self.asked.append(request)
        answer = self.answers[api](request)
        return None if answer is None else _encode(api, version, correlation_id, answer)

    def _versions(self) -> ApiVersionsResponse:
        served = [
            ApiVersion(
                api_key=api.key,
                min_version=api.versions[0],
                max_version=self.newest.get(api, api.versions[1]),
            )
            for api in self.answers
        ]
        return ApiVersionsResponse(api_keys=served)


def _encode(api: Api, version: int, correlation_id: int, answer: Any) -> bytes:
    head = encode_response_header(correlation_id, has_flexible_response_header(api, version))
    return b"".join([head, *api.encode_response(version)(answer)])


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = False
    block_on_close = True
    allow_reuse_address = True

    def __init__(self, broker: FakeBroker) -> None:
        self.broker = broker
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Conversation)

    def server_close(self) -> None:
        for request in list(self.open):
            _shut(request)
        super().server_close()


class _Conversation(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.server.broker.connections += 1
        self.server.open.add(self.request)
        try:
            with self.request.makefile("rb") as incoming:
                while (head := incoming.read(4)) and len(head) == 4:
                    (length,) = struct.unpack(">i", head)
                    answer = self.server.broker.reply(memoryview(incoming.read(length)))
                    if answer is not None:
                        self.request.sendall(struct.pack(">i", len(answer)) + answer)
        except (BreakOff, OSError):
            pass
        finally:
            self.server.open.discard(self.request)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
