"""A member of a group of the new protocol (KIP-848), as `__consumer_offsets` holds it.

    every key           i16 kind | group string | member string
    member (5)          i16 0 | instance id string? | rack string? | client id string
                              | client host string | topics [string] | regular expression string?
                              | rebalance timeout i32 | assignor string?
                              | tag 0: what it said when it joined by the classic protocol
    target (7)          i16 0 | topics [ id uuid | partitions [i32] ]
    assignment (8)      i16 0 | epoch i32 | previous epoch i32 | state i8
                              | assigned [ id uuid | partitions [i32]
                                         | tag 0: the epochs they were assigned in [i32]? ]
                              | pending revocation [ the same ]

All values are flexible, so that newer brokers can add to them; a null value deletes.
"""

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import array, bytes_, int8, int32, message, string, struct, uuid

MEMBER_KEY = 5
TARGET_KEY = 7
ASSIGNMENT_KEY = 8

_VALUE_VERSION = 0


@message
class MemberKey:
    group_id: str = string()
    member_id: str = string()


@message
class ClassicProtocol:
    name: str = string()
    metadata: bytes = bytes_()


@message
class ClassicMemberMetadata:
    session_timeout_ms: int = int32()
    supported_protocols: list[ClassicProtocol] = array(struct(ClassicProtocol))


@message
class MemberValue:
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string())
    subscribed_topic_regex: str | None = string(nullable=True, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    server_assignor: str | None = string(nullable=True, default=None)
    # Not null where it is left out, so a member of the new protocol has a null here, in full.
    classic_member_metadata: ClassicMemberMetadata | None = struct(
        ClassicMemberMetadata, nullable=True, tag=0
    )


@message
class TopicPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(int32())


@message
class AssignedPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(int32())
    # Of the same length as the partitions, where a broker knows of them (KIP-1251).
    assignment_epochs: list[int] | None = array(int32(), nullable=True, default=None, tag=0)


@message
class TargetValue:
    topic_partitions: list[TopicPartitions] = array(struct(TopicPartitions))


@message
class AssignmentValue:
    member_epoch: int = int32()
    previous_member_epoch: int = int32()
    state: int = int8()
    assigned_partitions: list[AssignedPartitions] = array(struct(AssignedPartitions))
    partitions_pending_revocation: list[AssignedPartitions] = array(struct(AssignedPartitions))


_KEYS = Format(MemberKey, (MEMBER_KEY, ASSIGNMENT_KEY), None)
_MEMBER = Format(MemberValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION)
_TARGET = Format(TargetValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION)
_ASSIGNMENT = Format(AssignmentValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION)


def write_key(kind: int, group_id: str, member_id: str) -> bytes:
    """The key of one of the three records that a group has for each member."""
    return _KEYS.write(MemberKey(group_id=group_id, member_id=member_id), kind)


def read_key(stored: bytes) -> MemberKey:
    return _KEYS.read(stored)


def write_member(value: MemberValue) -> bytes:
    return _MEMBER.write(value, _VALUE_VERSION)


def read_member(stored: bytes) -> MemberValue:
    return _MEMBER.read(stored)


def write_target(topic_partitions: list[TopicPartitions]) -> bytes:
    return _TARGET.write(TargetValue(topic_partitions=topic_partitions), _VALUE_VERSION)


def read_target(stored: bytes) -> list[TopicPartitions]:
    return _TARGET.read(stored).topic_partitions


def write_assignment(value: AssignmentValue) -> bytes:
    return _ASSIGNMENT.write(value, _VALUE_VERSION)


def read_assignment(stored: bytes) -> AssignmentValue:
    return _ASSIGNMENT.read(stored)
