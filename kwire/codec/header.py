"""What stands before each message: who asks for what, and which answer this is.

Request: api key i16, version i16, correlation id i32, client id (nullable string, never compact),
and in flexible versions tagged fields. Response: correlation id i32, and in flexible versions tagged
fields, save for ApiVersions.
"""

import struct
from typing import Any, NamedTuple

from kwire.codec.apis import API_VERSIONS, Api
from kwire.codec.primitives import Buffer, MalformedMessage, read_uvarint, skip_tags

_FIXED = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def decode_request_header(buffer: memoryview, flexible: bool) -> tuple[RequestHeader, int]:
    """The header at the start of a frame, and where its message begins."""
    try:
        key, version, correlation_id, length = _FIXED.unpack_from(buffer)
        position = 10
        client_id = None
        if length >= 0:
            position += length
            if position > len(buffer):
                raise MalformedMessage("the client id reaches beyond the message")
            client_id = str(buffer[10:position], "utf-8")
        elif length != -1:
            raise MalformedMessage("a negative length")
        if flexible:
            count = buffer[position]
            if count:
                count, position = read_uvarint(buffer, position)
                position = skip_tags(buffer, position, count)
            else:
                position += 1
    except (struct.error, IndexError):
        raise MalformedMessage("the header ends too early") from None
    except UnicodeDecodeError:
        raise MalformedMessage("the client id is not UTF-8") from None
    return RequestHeader(key, version, correlation_id, client_id), position


def encode_response_header(correlation_id: int, flexible: bool) -> bytes:
    head = _CORRELATION.pack(correlation_id)
    return head + b"\x00" if flexible else head


def encode_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, message: Any
) -> list[Buffer]:
    """A whole request without its length, for when we are the client."""
    name = None if client_id is None else client_id.encode()
    head = _FIXED.pack(api.key, version, correlation_id, -1 if name is None else len(name))
    head += name or b""
    if api.is_flexible(version):
        head += b"\x00"
    return [head, *api.encode_request(version)(message)]


def decode_response(api: Api, version: int, frame: memoryview) -> tuple[int, Any]:
    """The correlation id and the message of an answer."""
    if len(frame) < 4:
        raise MalformedMessage("an answer without a header")
    correlation_id = _CORRELATION.unpack_from(frame)[0]
    position = 4
    if api.is_flexible(version) and api is not API_VERSIONS:
        count, position = read_uvarint(frame, position)
        position = skip_tags(frame, position, count)
    message, _ = api.decode_response(version)(frame, position)
    return correlation_id, message
