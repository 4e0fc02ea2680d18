"""What members of protocol type `consumer` tell each other through their coordinator.

    subscription  i16 version | topics [string] | user data bytes?
                              | v1: owned [ topic string | partitions [i32] ]
                              | v2: generation i32 | v3: rack string?
    assignment    i16 version | assigned [ topic string | partitions [i32] ] | user data bytes?

Every later version begins like the ones before it. Of most groups only the topics are read: offsets
of others may expire. More is read when a group changes between the classic and the new protocol.
Other protocol types (`connect`) put bytes of their own in the same place.
"""

from kwire.codec.internal.versioned import Format, version_of
from kwire.codec.schema import array, bytes_, int32, message, string, struct

PROTOCOL_TYPE = "consumer"

_ONLY_TOPICS = 0
_LAST_VERSION = 3


@message
class NamedPartitions:
    topic: str = string()
    partitions: list[int] = array(int32())


@message
class Subscription:
    topics: list[str] = array(string())


@message
class FullSubscription:
    topics: list[str] = array(string())
    user_data: bytes | None = bytes_(nullable=True, default=None)
    owned_partitions: list[NamedPartitions] = array(struct(NamedPartitions), since=1)
    generation_id: int = int32(since=2, default=-1)
    rack_id: str | None = string(since=3, nullable=True, default=None)


@message
class Assignment:
    assigned_partitions: list[NamedPartitions] = array(struct(NamedPartitions))
    user_data: bytes | None = bytes_(nullable=True, default=None)


_SUBSCRIPTION = Format(Subscription, (_ONLY_TOPICS, _ONLY_TOPICS), None)
_FULL_SUBSCRIPTION = Format(FullSubscription, (0, _LAST_VERSION), None)
_ASSIGNMENT = Format(Assignment, (0, _LAST_VERSION), None)


def subscribed_topics(metadata: bytes) -> set[str]:
    """The topics of a subscription; `MalformedMessage` if it is none."""
    return set(_SUBSCRIPTION.read_as(metadata, _ONLY_TOPICS).topics)


def read_subscription(metadata: bytes) -> FullSubscription:
    """All of a subscription, in the newest way that we know; `MalformedMessage` if it is none."""
    return _FULL_SUBSCRIPTION.read_as(metadata, _version(metadata))


def read_assignment(assignment: bytes) -> list[NamedPartitions]:
    """What a member was assigned; nothing at all stands for nothing."""
    if not assignment:
        return []
    return _ASSIGNMENT.read_as(assignment, _version(assignment)).assigned_partitions


def write_assignment(assigned: list[NamedPartitions], metadata: bytes) -> bytes:
    """An assignment for a member with this subscription, in the subscription's version."""
    return _ASSIGNMENT.write(Assignment(assigned_partitions=assigned), _version(metadata))


def _version(stored: bytes) -> int:
    return max(0, min(version_of(stored), _LAST_VERSION))
