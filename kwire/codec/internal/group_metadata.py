"""A generation of a classic group, as `__consumer_offsets` holds it.

    key    i16 2 | group string
    value  i16 3 | protocol type string | generation i32 | protocol string? | leader string?
                 | since when it is in its state i64
                 | members [ id string | instance id string? | client id string
                           | client host string | rebalance timeout i32 | session timeout i32
                           | subscription bytes | assignment bytes ]

Version 3 is written. Older ones lack the instance id (up to 2), the time of the state (up to 1) and
the rebalance timeout (0); version 4 is flexible. A null value deletes the group.
"""

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import array, bytes_, int32, int64, message, string, struct

KEY_VERSION = 2
NO_TIMESTAMP = -1
NO_REBALANCE_TIMEOUT = -1

_VALUE_VERSION = 3


@message
class GroupMetadataKey:
    group: str = string()


@message
class StoredMember:
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    client_id: str = string()
    client_host: str = string()
    rebalance_timeout: int = int32(since=1, default=NO_REBALANCE_TIMEOUT)
    session_timeout: int = int32()
    subscription: bytes = bytes_()
    assignment: bytes = bytes_()


@message
class GroupMetadataValue:
    protocol_type: str = string()
    generation: int = int32()
    protocol: str | None = string(nullable=True)
    leader: str | None = string(nullable=True)
    current_state_timestamp: int = int64(since=2, default=NO_TIMESTAMP)
    members: list[StoredMember] = array(struct(StoredMember))


_KEY = Format(GroupMetadataKey, (KEY_VERSION, KEY_VERSION), None)
_VALUE = Format(GroupMetadataValue, (0, 4), 4)


def write_key(group: str) -> bytes:
    return _KEY.write(GroupMetadataKey(group=group), KEY_VERSION)


def read_key(stored: bytes) -> str:
    return _KEY.read(stored).group


def write_value(value: GroupMetadataValue) -> bytes:
    return _VALUE.write(value, _VALUE_VERSION)


def read_value(stored: bytes) -> GroupMetadataValue:
    return _VALUE.read(stored)
