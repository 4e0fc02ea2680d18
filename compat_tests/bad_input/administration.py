"""Rows of topic names and admin requests that must not reach a disk."""

from compat_tests.bad_input.rows import (
    CLOSED,
    Build,
    Ground,
    Row,
    better,
    both,
    code_zero,
    error_after_throttle,
    error_of_metadata,
    error_of_partition,
    error_of_resource,
    error_of_topic,
    ours,
)
from compat_tests.bad_input.wire import (
    ALTER_CONFIGS,
    CREATE_PARTITIONS,
    DELETE_RECORDS,
    DELETE_TOPICS,
    DESCRIBE_CONFIGS,
    INCREMENTAL_ALTER_CONFIGS,
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    METADATA,
    Reader,
    array,
    create_topic,
    i8,
    i32,
    i64,
    request,
    text,
)

TOPIC = 2
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_TOPIC = 17
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_REPLICA_ASSIGNMENT = 39
INVALID_CONFIG = 40
INVALID_REQUEST = 42
POLICY_VIOLATION = 44
UNSUPPORTED_VERSION = 35

BAD_NAMES = {
    "a way up": "../x",
    "a way far up": "../../../../tmp/x",
    "a slash": "a/b",
    "a backslash": "a\\b",
    "nothing": "",
    "a dot": ".",
    "two dots": "..",
    "250 characters": "x" * 250,
    "32 KB": "x" * 32000,
    "a NUL": "a\0b",
    "a newline": "a\nb",
    "a space": "a b",
    "a colon": "a:b",
    "umlauts": "größe",
    "another script": "主题",
    "a shell": "$(reboot)",
}


def _auto_create(name: str) -> bytes:
    return request(METADATA, 4, array(text(name)) + i8(1))


NAMES: dict[str, Row] = {
    **{
        f"a topic named with {what}": both(create_topic(name), INVALID_TOPIC, error_of_topic)
        for what, name in BAD_NAMES.items()
    },
    **{
        f"a wish for a topic named with {what}": both(
            _auto_create(name), INVALID_TOPIC, error_of_metadata
        )
        for what, name in BAD_NAMES.items()
    },
    "a name that is not UTF-8": both(create_topic(b"\xff\xfe"), INVALID_TOPIC, error_of_topic),
    "a name that collides": both(
        lambda ground: create_topic(ground.plain.replace(".", "_")), INVALID_TOPIC, error_of_topic
    ),
    "a name to delete that leads outside": both(
        request(DELETE_TOPICS, 1, array(text("../x")) + i32(1000)),
        UNKNOWN_TOPIC_OR_PARTITION,
        error_of_topic,
    ),
    "a name to describe that leads outside": both(
        request(DESCRIBE_CONFIGS, 1, array(i8(2) + text("../x") + i32(-1)) + i8(0)),
        INVALID_TOPIC,
        error_of_resource,
    ),
}

CREATIONS = {
    "no partitions": both(create_topic("n0", partitions=0), INVALID_PARTITIONS, error_of_topic),
    "-2 partitions": both(create_topic("n2", partitions=-2), INVALID_PARTITIONS, error_of_topic),
    "two billion partitions": ours(
        create_topic("many", partitions=2_000_000_000), POLICY_VIOLATION, error_of_topic
    ),
    "no replicas": both(create_topic("r0", replicas=0), INVALID_REPLICATION_FACTOR, error_of_topic),
    "more replicas than brokers": both(
        create_topic("r9", replicas=9), INVALID_REPLICATION_FACTOR, error_of_topic
    ),
    "a replica on nobody": both(
        create_topic(
            "assigned", partitions=-1, replicas=-1, assignments=array(i32(0) + array(i32(99)))
        ),
        INVALID_REPLICA_ASSIGNMENT,
        error_of_topic,
    ),
    "partitions with a hole": both(
        create_topic("hole", partitions=-1, replicas=-1, assignments=array(i32(5) + array(i32(1)))),
        INVALID_REPLICA_ASSIGNMENT,
        error_of_topic,
    ),
    "both assignments and a count": both(
        create_topic("both", partitions=1, assignments=array(i32(0) + array(i32(1)))),
        INVALID_REQUEST,
        error_of_topic,
    ),
    "the same topic twice": both(create_topic("twin", copies=2), INVALID_REQUEST, error_of_topic),
    "a setting without a value": both(
        create_topic("null", configs=[("retention.ms", None)]), INVALID_CONFIG, error_of_topic
    ),
    "a setting without a name": both(create_topic("null", configs=[(None, "1")]), CLOSED),
    "a setting nobody knows": both(
        create_topic("what", configs=[("kwire.evil", "1")]), INVALID_CONFIG, error_of_topic
    ),
    "a setting far out of range": both(
        create_topic("big", configs=[("segment.bytes", "9" * 40)]), INVALID_CONFIG, error_of_topic
    ),
}


def _alter(api: int, entry: bytes, kind: int = TOPIC) -> Build:
    return lambda ground: request(
        api, 0, array(i8(kind) + text(ground.plain) + array(entry)) + i8(0)
    )


def _list_offsets(ground: Ground) -> bytes:
    partitions = array(i32(0) + i64(-99))
    return request(LIST_OFFSETS, 2, i32(-1) + i8(0) + array(text(ground.plain) + partitions))


def _delete_records(offset: int) -> Row:
    def send(ground: Ground) -> bytes:
        topics = array(text(ground.plain) + array(i32(0) + i64(offset)))
        return request(DELETE_RECORDS, 0, topics + i32(1000))

    return both(send, OFFSET_OUT_OF_RANGE, _low_watermark_error)


def _low_watermark_error(answer: Reader) -> int:
    answer.i32(), answer.i32(), answer.text(), answer.i32(), answer.i32(), answer.i64()
    return answer.i16()


CHANGES = {
    "a change to a setting nobody knows": both(
        _alter(ALTER_CONFIGS, text("no.such.key") + text("1")), INVALID_CONFIG, error_of_resource
    ),
    "a change to a value that cannot be": both(
        _alter(ALTER_CONFIGS, text("retention.ms") + text("soon")),
        INVALID_CONFIG,
        error_of_resource,
    ),
    "an operation nobody knows": better(
        _alter(INCREMENTAL_ALTER_CONFIGS, text("retention.ms") + i8(9) + text("1")),
        INVALID_REQUEST,
        error_of_resource,
        kafka=-1,
    ),
    "appending to what is no list": both(
        _alter(INCREMENTAL_ALTER_CONFIGS, text("retention.ms") + i8(2) + text("1")),
        INVALID_CONFIG,
        error_of_resource,
    ),
    "a resource of no type": both(
        _alter(ALTER_CONFIGS, text("a") + text("1"), kind=77), INVALID_REQUEST, error_of_resource
    ),
    "fewer partitions": both(
        lambda ground: request(
            CREATE_PARTITIONS, 0, array(text(ground.plain) + i32(0) + i32(-1)) + i32(1000) + i8(0)
        ),
        INVALID_PARTITIONS,
        error_of_topic,
    ),
    "a time that means nothing": both(_list_offsets, UNSUPPORTED_VERSION, error_of_partition),
    "records deleted beyond the end": _delete_records(1_000_000),
    "records deleted up to -7": _delete_records(-7),
    "a transactional id that is empty": both(
        request(INIT_PRODUCER_ID, 0, text("") + i32(1000)), INVALID_REQUEST, error_after_throttle
    ),
    "nothing to describe": both(request(DESCRIBE_CONFIGS, 1, array() + i8(0)), 0, code_zero),
}

TABLE: dict[str, Row] = {**NAMES, **CREATIONS, **CHANGES}
