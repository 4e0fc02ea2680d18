"""Committed offsets, as `__consumer_offsets` holds them.

    key    i16 1 (older: 0) | group string | topic string | partition i32
    value  i16 3            | offset i64 | leader epoch i32 | metadata string | commit time i64
           i16 1            | offset i64 | metadata string | commit time i64 | expiry time i64

Version 3 is written, and version 1 for the clients that choose a retention time themselves (up to
OffsetCommit v4). Versions 0 and 2 lack leader epoch and expiry time; 4 is flexible. A null value
deletes the offset.
"""

from typing import NamedTuple

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import int32, int64, message, string

KEY_VERSIONS = (0, 1)
NO_EXPIRY = -1

_KEY_VERSION = 1
_VALUE_VERSION = 3
_VALUE_VERSION_WITH_EXPIRY = 1


@message
class OffsetCommitKey:
    group: str = string()
    topic: str = string()
    partition: int = int32()


@message
class OffsetCommitValue:
    offset: int = int64()
    leader_epoch: int = int32(since=3, default=-1)
    metadata: str = string()
    commit_timestamp: int = int64()
    expire_timestamp: int = int64(since=1, until=1, default=NO_EXPIRY)


class CommittedOffset(NamedTuple):
    """How far a group has read one partition, when that was said, and what was noted with it."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int = NO_EXPIRY


_KEY = Format(OffsetCommitKey, KEY_VERSIONS, None)
_VALUE = Format(OffsetCommitValue, (0, 4), 4)


def write_key(group: str, topic: str, partition: int) -> bytes:
    return _KEY.write(OffsetCommitKey(group=group, topic=topic, partition=partition), _KEY_VERSION)


def read_key(stored: bytes) -> OffsetCommitKey:
    return _KEY.read(stored)


def write_value(committed: CommittedOffset) -> bytes:
    has_expiry = committed.expire_timestamp != NO_EXPIRY
    version = _VALUE_VERSION_WITH_EXPIRY if has_expiry else _VALUE_VERSION
    return _VALUE.write(OffsetCommitValue(**committed._asdict()), version)


def read_value(stored: bytes) -> CommittedOffset:
    value = _VALUE.read(stored)
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
    )
