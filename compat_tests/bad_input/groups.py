"""Rows of group requests that no client would send."""

from compat_tests.bad_input.rows import (
    CLOSED,
    Ground,
    Row,
    both,
    code_zero,
    error_after_throttle,
    error_first,
    error_of_partition,
    error_of_resource,
    error_of_topic,
)
from compat_tests.bad_input.wire import array, blob, i8, i16, i32, i64, request, text

OFFSET_COMMIT = 8
OFFSET_FETCH = 9
FIND_COORDINATOR = 10
JOIN_GROUP = 11
HEARTBEAT = 12
LEAVE_GROUP = 13
SYNC_GROUP = 14
DESCRIBE_GROUPS = 15
LIST_GROUPS = 16
DELETE_GROUPS = 42
OFFSET_DELETE = 47

UNKNOWN_TOPIC_OR_PARTITION = 3
OFFSET_METADATA_TOO_LARGE = 12
ILLEGAL_GENERATION = 22
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_GROUP_ID = 24
UNKNOWN_MEMBER_ID = 25
INVALID_SESSION_TIMEOUT = 26
INVALID_REQUEST = 42
GROUP_ID_NOT_FOUND = 69

RANGE = array(text("range") + blob(b"who knows"))


def join_group(
    group: str | None = "nobody",
    *,
    session_ms: int = 10_000,
    member: str = "",
    kind: str = "consumer",
    protocols: bytes = RANGE,
) -> bytes:
    body = text(group) + i32(session_ms) + i32(10_000) + text(member) + text(kind) + protocols
    return request(JOIN_GROUP, 2, body)


JOINS = {
    "joining a group without a name": both(join_group(""), INVALID_GROUP_ID, error_after_throttle),
    "joining null": both(join_group(None), CLOSED),
    "joining for a millisecond": both(
        join_group(session_ms=1), INVALID_SESSION_TIMEOUT, error_after_throttle
    ),
    "joining for ever": both(
        join_group(session_ms=0x7FFFFFFF), INVALID_SESSION_TIMEOUT, error_after_throttle
    ),
    "joining for -1 ms": both(
        join_group(session_ms=-1), INVALID_SESSION_TIMEOUT, error_after_throttle
    ),
    "joining as somebody": both(
        join_group(member="an impostor"), UNKNOWN_MEMBER_ID, error_after_throttle
    ),
    "joining without a protocol": both(
        join_group(protocols=array()), INCONSISTENT_GROUP_PROTOCOL, error_after_throttle
    ),
    "joining as nothing": both(
        join_group(kind=""), INCONSISTENT_GROUP_PROTOCOL, error_after_throttle
    ),
    "joining with more protocols than bytes": both(join_group(protocols=i32(1_000_000)), CLOSED),
}

MEMBERS = {
    "syncing with a stranger's group": both(
        request(SYNC_GROUP, 1, text("nobody") + i32(3) + text("me") + array()),
        UNKNOWN_MEMBER_ID,
        error_after_throttle,
    ),
    "a heartbeat of a stranger": both(
        request(HEARTBEAT, 1, text("nobody") + i32(3) + text("me")),
        UNKNOWN_MEMBER_ID,
        error_after_throttle,
    ),
    "a heartbeat of no group": both(
        request(HEARTBEAT, 1, text("") + i32(3) + text("me")),
        INVALID_GROUP_ID,
        error_after_throttle,
    ),
    "a stranger leaves": both(
        request(LEAVE_GROUP, 1, text("nobody") + text("me")),
        UNKNOWN_MEMBER_ID,
        error_after_throttle,
    ),
}


def _commit(
    partition: bytes, *, topic: str | None = None, group: str = "nobody", generation: int = -1
) -> Row:
    """A commit of one partition; `topic` is the ground's, if none is named."""

    def send(ground: Ground) -> bytes:
        topics = array(text(topic or ground.plain) + array(partition))
        head = text(group) + i32(generation) + text("") + i64(-1)
        return request(OFFSET_COMMIT, 3, head + topics)

    return both(send, UNKNOWN_TOPIC_OR_PARTITION, error_of_partition)


PLAIN = i32(0) + i64(1) + text("")

COMMITS = {
    "a commit to a topic outside": _commit(PLAIN, topic="../x"),
    "a commit to a partition nobody has": _commit(i32(77) + i64(1) + text("")),
    "a commit to a negative partition": _commit(i32(-1) + i64(1) + text("")),
    "a commit of another generation": _commit(PLAIN, group="never seen", generation=5)._replace(
        expect=ILLEGAL_GENERATION, kafka=ILLEGAL_GENERATION
    ),
    "a commit with a novel in it": _commit(i32(0) + i64(1) + text("x" * 5000))._replace(
        expect=OFFSET_METADATA_TOO_LARGE, kafka=OFFSET_METADATA_TOO_LARGE
    ),
    "a commit with a text beyond the frame": both(
        request(
            OFFSET_COMMIT,
            3,
            text("nobody")
            + i32(-1)
            + text("")
            + i64(-1)
            + array(text("t") + array(i32(0) + i64(1) + i16(30_000))),
        ),
        CLOSED,
    ),
}

ADMINISTRATION = {
    "a coordinator of no kind": both(
        request(FIND_COORDINATOR, 1, text("nobody") + i8(9)), INVALID_REQUEST, error_after_throttle
    ),
    "a coordinator of null": both(request(FIND_COORDINATOR, 1, text(None) + i8(0)), CLOSED),
    "deleting a group nobody has": both(
        request(DELETE_GROUPS, 0, array(text("never seen"))), GROUP_ID_NOT_FOUND, error_of_topic
    ),
    "deleting a group without a name": both(
        request(DELETE_GROUPS, 0, array(text(""))), GROUP_ID_NOT_FOUND, error_of_topic
    ),
    "describing a group without a name": both(
        request(DESCRIBE_GROUPS, 1, array(text(""))), 0, error_of_resource
    ),
    "forgetting offsets of a group nobody has": both(
        request(OFFSET_DELETE, 0, text("never seen") + array()), GROUP_ID_NOT_FOUND, error_first
    ),
    "offsets of a group that leads outside": both(
        request(OFFSET_FETCH, 3, text("../../x") + array(text("t") + array(i32(0)))), 0, code_zero
    ),
    "a list of groups": both(request(LIST_GROUPS, 0), 0, error_first),
}

TABLE: dict[str, Row] = {**JOINS, **MEMBERS, **COMMITS, **ADMINISTRATION}
