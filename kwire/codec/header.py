"""What stands before each message: who asks for what, and which answer this is.

Request: api key i16, version i16, correlation id i32, client id as a nullable string that is never
compact, and in flexible versions tagged fields. Response: correlation id i32, and in flexible
versions tagged fields, save for ApiVersions: its answer must be readable by a client that does not
know yet what the broker speaks.
"""

import struct
from typing import Any, NamedTuple

from kwire.codec.apis import API_VERSIONS, Api
from kwire.codec.primitives import Buffer, MalformedMessage, read_text, skip_tags

_REQUEST = struct.Struct(">hhih")
_RESPONSE = struct.Struct(">i")


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def decode_request_header(buffer: memoryview, flexible: bool) -> tuple[RequestHeader, int]:
    """The header at the start of a frame, and where its message begins."""
    try:
        key, version, correlation_id, length = _REQUEST.unpack_from(buffer)
        position = _REQUEST.size
        client_id = None
        if length >= 0:
            client_id = read_text(buffer, position, length)
            position += length
        if flexible:
            position = skip_tags(buffer, position) if buffer[position] else position + 1
    except (struct.error, IndexError):
        raise MalformedMessage("the header ends too early") from None
    return RequestHeader(key, version, correlation_id, client_id), position


def encode_response_header(correlation_id: int, flexible: bool) -> bytes:
    """What goes before an answer; for ApiVersions `flexible` is False in every version."""
    head = _RESPONSE.pack(correlation_id)
    return head + b"\x00" if flexible else head


def has_flexible_response_header(api: Api, version: int) -> bool:
    """Say whether tagged fields may stand before the answer."""
    return api is not API_VERSIONS and api.is_flexible(version)


def encode_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, message: Any
) -> list[Buffer]:
    """A whole request without its length, for when we are the client."""
    name = None if client_id is None else client_id.encode()
    head = _REQUEST.pack(api.key, version, correlation_id, -1 if name is None else len(name))
    head += name or b""
    if api.is_flexible(version):
        head += b"\x00"
    return [head, *api.encode_request(version)(message)]


def decode_response(api: Api, version: int, frame: memoryview) -> tuple[int, Any]:
    """The correlation id and the message of an answer."""
    try:
        (correlation_id,) = _RESPONSE.unpack_from(frame)
        position = _RESPONSE.size
        if has_flexible_response_header(api, version):
            position = skip_tags(frame, position)
    except (struct.error, IndexError):
        raise MalformedMessage("an answer without a header") from None
    message, _ = api.decode_response(version)(frame, position)
    return correlation_id, message
