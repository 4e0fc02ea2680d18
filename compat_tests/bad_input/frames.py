"""Rows of bytes that are no request: lengths, headers, versions, counts, tags and nulls."""

from compat_tests.bad_input.rows import CLOSED, Row, both, code_zero, error_first, ours
from compat_tests.bad_input.wire import (
    API_VERSIONS,
    CREATE_TOPICS,
    FETCH,
    METADATA,
    PRODUCE,
    array,
    create_topic,
    frame,
    i8,
    i16,
    i32,
    i64,
    produce,
    request,
    text,
    uvarint,
)

MAX_REQUEST = 104_857_600
TLS_HELLO = bytes.fromhex("160301020001000001fc0303") + bytes(500)
NO_TAGS = b"\x00"
SOFTWARE = uvarint(5) + b"evil" + uvarint(2) + b"1" + NO_TAGS

LENGTHS = {
    "a length of -1": both(i32(-1), CLOSED),
    "the least length": both(i32(-(2**31)), CLOSED),
    "a length of 0": both(i32(0), CLOSED),
    "a length one above the limit": both(i32(MAX_REQUEST + 1), CLOSED),
    "the greatest length": both(i32(0x7FFFFFFF), CLOSED),
    "an HTTP request": both(b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n", CLOSED),
    "a TLS hello": both(TLS_HELLO, CLOSED),
    "an SSH banner": both(b"SSH-2.0-OpenSSH_9.6\r\n", CLOSED),
    "a frame of one byte": both(frame(b"\x00"), CLOSED),
    "a frame without a correlation id": both(frame(i16(API_VERSIONS) + i16(0)), CLOSED),
    "a frame without a client id": both(frame(i16(API_VERSIONS) + i16(0) + i32(1)), CLOSED),
}

HEADERS = {
    "an api key of -1": both(request(-1, 0), CLOSED),
    "an api key nobody has": both(request(999, 0), CLOSED),
    "the greatest api key": both(request(0x7FFF, 0), CLOSED),
    "LeaderAndIsr": both(request(4, 7, bytes(64)), CLOSED),
    "StopReplica": both(request(5, 4, bytes(64)), CLOSED),
    "UpdateMetadata": both(request(6, 8, bytes(64)), CLOSED),
    "ControlledShutdown": both(request(7, 3, bytes(64)), CLOSED),
    "Envelope": both(request(58, 0, bytes(64)), CLOSED),
    "FetchSnapshot": both(request(59, 0, bytes(64)), CLOSED),
    "BrokerRegistration": both(request(62, 0, bytes(64)), CLOSED),
    "a client id longer than the frame": both(
        frame(i16(API_VERSIONS) + i16(0) + i32(1) + i16(5000) + b"short"), CLOSED
    ),
    "a client id that is not UTF-8, and a body that is missing": both(
        request(METADATA, 4, client_id=b"\xff\xfe\x80"), CLOSED
    ),
    "a client id of 32 KB full of newlines": both(
        request(API_VERSIONS, 0, client_id=b"a\nFORGED LINE\r" * 2340), 0, error_first
    ),
    "a client id with newlines before a malformed body": both(
        request(METADATA, 4, b"\x7f", client_id=b"a\nFORGED LINE\n"), CLOSED
    ),
}

VERSIONS = {
    "ApiVersions above ours": both(
        request(API_VERSIONS, 99, SOFTWARE, tags=NO_TAGS), 35, error_first
    ),
    "the greatest version of ApiVersions": both(
        request(API_VERSIONS, 0x7FFF, SOFTWARE, tags=NO_TAGS), 35, error_first
    ),
    "Produce of version 2": both(request(PRODUCE, 2, i16(1) + i32(100) + array()), CLOSED),
    "Produce of version -1": both(request(PRODUCE, -1, bytes(64)), CLOSED),
    "Fetch of version 99": both(request(FETCH, 99, bytes(64)), CLOSED),
    "Metadata of version 99": both(request(METADATA, 99, bytes(64)), CLOSED),
    "CreateTopics of version 99": both(request(CREATE_TOPICS, 99, bytes(64)), CLOSED),
}

COUNTS = {
    "as many topics as an int32 holds": both(request(METADATA, 4, i32(0x7FFFFFFF)), CLOSED),
    "a count of -2, which is taken for null": both(
        request(METADATA, 4, i32(-2) + i8(1)), 0, code_zero
    ),
    "one topic more than there is": both(request(METADATA, 4, i32(2) + text("a") + i8(0)), CLOSED),
    "a compact count of 2^32-1, which Kafka takes for null": ours(
        request(METADATA, 9, uvarint(2**32 - 1) + bytes(32), tags=NO_TAGS), CLOSED
    ),
    "a varint of six bytes": both(
        request(METADATA, 9, b"\xff\xff\xff\xff\xff\x0f" + bytes(32), tags=NO_TAGS), CLOSED
    ),
    "a hundred million topics to create": both(
        request(CREATE_TOPICS, 2, i32(100_000_000) + bytes(200)), CLOSED
    ),
    "partitions beyond the frame": both(
        request(PRODUCE, 7, text(None) + i16(1) + i32(100) + array(text("t") + i32(50_000_000))),
        CLOSED,
    ),
    "records beyond the frame": both(
        request(
            PRODUCE,
            7,
            text(None)
            + i16(1)
            + i32(100)
            + array(text("t") + array(i32(0) + i32(0x7FFFFFFF) + b"xx")),
        ),
        CLOSED,
    ),
    "a name beyond the frame": both(request(METADATA, 4, i32(1) + i16(32000) + b"ab"), CLOSED),
    "a name of length -7": both(request(METADATA, 4, i32(1) + i16(-7) + i8(0)), CLOSED),
    "a million topics of one byte each": ours(
        request(METADATA, 9, uvarint(1_000_001) + bytes(1_000_000), tags=NO_TAGS), CLOSED
    ),
    "four million tiny topics to fetch": ours(
        request(
            FETCH,
            12,
            i32(-1) + i32(0) * 3 + i8(0) + i32(0) * 2 + uvarint(4_000_001) + b"\x01" * 4_000_000,
            tags=NO_TAGS,
        ),
        CLOSED,
    ),
}

TAGS = {
    "a tag longer than the frame": both(
        request(API_VERSIONS, 3, SOFTWARE, tags=b"\x01\x05" + uvarint(2**31 - 1)), CLOSED
    ),
    "more tags than bytes": both(
        request(API_VERSIONS, 3, b"", tags=uvarint(2**31 - 1) + b"\x05\x00"), CLOSED
    ),
    "unknown tags are passed over": both(
        request(API_VERSIONS, 3, SOFTWARE, tags=b"\x02\x64\x02ab\x65\x00"), 0, error_first
    ),
    "a million tags in the header": ours(
        request(API_VERSIONS, 3, SOFTWARE, tags=uvarint(1_000_000) + b"\x64\x00" * 1_000_000),
        CLOSED,
    ),
    "a million tags in the body": ours(
        request(
            API_VERSIONS,
            3,
            SOFTWARE[:-1] + uvarint(1_000_000) + b"\x64\x00" * 1_000_000,
            tags=NO_TAGS,
        ),
        CLOSED,
    ),
    "a software name with a newline": both(
        request(API_VERSIONS, 3, uvarint(5) + b"a\nbc" + uvarint(2) + b"1" + NO_TAGS, tags=NO_TAGS),
        42,
        error_first,
    ),
}

NULLS = {
    "no name where one is needed": both(create_topic(None), CLOSED),
    "no compact name where one is needed": both(
        request(CREATE_TOPICS, 5, uvarint(2) + uvarint(0) + bytes(40), tags=NO_TAGS), CLOSED
    ),
    "no topics where all would be meant later": both(request(METADATA, 0, i32(-1)), CLOSED),
    "no topic of records": both(produce(None, b""), CLOSED),
    "no partitions of records": both(
        request(PRODUCE, 7, text(None) + i16(1) + i32(9) + array(text("t") + i32(-1))), CLOSED
    ),
    "no topics of records": both(
        request(PRODUCE, 7, text(None) + i16(1) + i32(9) + i32(-1)), CLOSED
    ),
}

EMPTY = {
    "a fetch of nothing": both(
        request(FETCH, 4, i32(-1) + i32(0) + i32(0) + i32(1) + i8(0) + array()), 0, code_zero
    ),
    "a fetch of a topic without partitions": both(
        request(FETCH, 4, i32(-1) + i32(0) + i32(0) + i32(1) + i8(0) + array(text("t") + array())),
        0,
        code_zero,
    ),
    "records of no topic": both(
        request(PRODUCE, 7, text(None) + i16(1) + i32(9) + array()), 0, code_zero
    ),
    "no topics to create": both(
        request(CREATE_TOPICS, 2, array() + i32(100) + i8(0)), 0, code_zero
    ),
    "bytes after the end of a request": both(
        request(METADATA, 4, array() + i8(0) + b"and more"), 0, code_zero
    ),
    "a negative offset and sizes to fetch": both(
        request(
            FETCH,
            4,
            i32(-1)
            + i32(-5)
            + i32(-5)
            + i32(-5)
            + i8(9)
            + array(text("t") + array(i32(-1) + i64(-9) + i32(-1))),
        ),
        0,
        code_zero,
    ),
}

TABLE: dict[str, Row] = {**LENGTHS, **HEADERS, **VERSIONS, **COUNTS, **TAGS, **NULLS, **EMPTY}
