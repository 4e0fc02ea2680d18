"""One blocking connection to one broker, for when we are the client.

A frame is a length i32 and that many bytes. The versions are settled once, when the connection is
made: for each API the newest that both sides speak.
"""

import socket
import struct
from typing import Any, NamedTuple

from kwire import __version__
from kwire.codec.apis import API_VERSIONS, Api
from kwire.codec.header import decode_response, encode_request
from kwire.codec.primitives import MalformedMessage
from kwire.errors import ErrorCode
from kwire.peers.failures import Disconnected, NotSpoken, PeerError, TookTooLong, Unreachable

DEFAULT_PORT = 9092
MAX_ANSWER_BYTES = 512 * 1024 * 1024

_LENGTH = struct.Struct(">i")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> list[Address]:
    """`host[:port],...`; raises ValueError with the part that is wrong."""
    addresses = [_parse_address(part.strip()) for part in text.split(",") if part.strip()]
    if not addresses:
        raise ValueError("no broker is named; write host:port")
    return addresses


def _parse_address(text: str) -> Address:
    if "://" in text:
        raise ValueError(f"{text!r} names a protocol; write host:port")
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") if rest else str(DEFAULT_PORT)
    else:
        host, colon, port = text.partition(":")
        port = port if colon else str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) <= 65535:
        raise ValueError(f"{text!r} is not of the form host:port")
    return Address(host, int(port))


class Connection:
    """A connection whose versions are settled. Requests go one at a time, answers come in order."""

    def __init__(self, address: Address, *, client_id: str, timeout_s: float) -> None:
        self.address = address
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection(address, timeout_s)
        except OSError as failed:
            raise Unreachable(f"no broker at {address}: {_reason(failed)}") from failed
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._served = self._ask_versions()
        except PeerError:
            self.close()
            raise

    def version_of(self, api: Api) -> int:
        """The newest version that both sides speak."""
        lowest, highest = self._served.get(api.key, (0, -1))
        version = min(highest, api.versions[1])
        if version < max(lowest, api.first_readable):
            raise NotSpoken(f"the broker at {self.address} does not serve {api.name} as we know it")
        return version

    def request(self, api: Api, message: Any, *, timeout_s: float | None = None) -> Any:
        """Send a request and wait for its answer."""
        version = self.version_of(api)
        self._send(api, version, message, timeout_s)
        return self._answer(api, version)

    def send(self, api: Api, message: Any) -> None:
        """Send what no answer comes for: Produce with acks=0."""
        self._send(api, self.version_of(api), message, None)

    def close(self) -> None:
        self._socket.close()

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        """Ask in our newest version, then in the oldest if the broker does not know that one."""
        for version in (API_VERSIONS.versions[1], 0):
            ours = API_VERSIONS.request(
                client_software_name="kwire", client_software_version=__version__
            )
            self._send(API_VERSIONS, version, ours, None)
            frame = self._read_frame()
            # KIP-511: a version that is too new is refused in the form of version 0.
            too_new = frame[4:6] == _TOO_NEW
            answer = self._decode(API_VERSIONS, 0 if too_new else version, frame)
            if answer.error_code == ErrorCode.NONE:
                return {
                    each.api_key: (each.min_version, each.max_version) for each in answer.api_keys
                }
        raise NotSpoken(f"the broker at {self.address} refuses to tell which versions it serves")

    def _send(self, api: Api, version: int, message: Any, timeout_s: float | None) -> None:
        self._correlation_id += 1
        parts = encode_request(api, version, self._correlation_id, self._client_id, message)
        length = sum(map(len, parts))
        self._socket.settimeout(self._timeout_s if timeout_s is None else timeout_s)
        try:
            self._socket.sendall(b"".join((_LENGTH.pack(length), *parts)))
        except OSError as failed:
            raise self._gone(failed) from failed

    def _answer(self, api: Api, version: int) -> Any:
        return self._decode(api, version, self._read_frame())

    def _decode(self, api: Api, version: int, frame: memoryview) -> Any:
        try:
            correlation_id, answer = decode_response(api, version, frame)
        except MalformedMessage as broken:
            raise Disconnected(
                f"{self.address} sent a broken {api.name} answer: {broken}"
            ) from None
        if correlation_id != self._correlation_id:
            raise Disconnected(f"{self.address} answered something that was not asked")
        return answer

    def _read_frame(self) -> memoryview:
        (length,) = _LENGTH.unpack(self._read_exactly(_LENGTH.size))
        if not 4 <= length <= MAX_ANSWER_BYTES:
            raise Disconnected(f"{self.address} does not speak Kafka's protocol")
        return self._read_exactly(length)

    def _read_exactly(self, length: int) -> memoryview:
        buffer = memoryview(bytearray(length))
        filled = 0
        while filled < length:
            try:
                count = self._socket.recv_into(buffer[filled:])
            except OSError as failed:
                raise self._gone(failed) from failed
            if count == 0:
                raise Disconnected(f"the broker at {self.address} closed the connection")
            filled += count
        return buffer

    def _gone(self, failed: OSError) -> PeerError:
        if isinstance(failed, TimeoutError):
            return TookTooLong(f"the broker at {self.address} did not answer in time")
        return Disconnected(f"lost the broker at {self.address}: {_reason(failed)}")


_TOO_NEW = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


def _reason(failed: OSError) -> str:
    if isinstance(failed, TimeoutError):
        return "it did not answer in time"
    return (failed.strerror or str(failed)).lower()
