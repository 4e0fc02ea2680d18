"""What members of protocol type `consumer` tell each other through their coordinator.

    subscription  i16 version | topics [string] | user data bytes? | ...

Every later version begins like version 0, so the beginning is all that is read: the topics a group
is subscribed to, since offsets of others may expire. Other protocol types (`connect`) put bytes of
their own in the same place.
"""

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import array, message, string

PROTOCOL_TYPE = "consumer"

_READ_AS = 0


@message
class Subscription:
    topics: list[str] = array(string())


_SUBSCRIPTION = Format(Subscription, (_READ_AS, _READ_AS), None)


def subscribed_topics(metadata: bytes) -> set[str]:
    """The topics of a subscription; `MalformedMessage` if it is none."""
    return set(_SUBSCRIPTION.read_as(metadata, _READ_AS).topics)
