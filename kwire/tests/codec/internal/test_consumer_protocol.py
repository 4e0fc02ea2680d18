"""What consumers tell each other, as far as a coordinator reads it."""

import pytest
from kafka.coordinator.consumer import ConsumerProtocolSubscription

from kwire.codec.internal.consumer_protocol import subscribed_topics
from kwire.codec.primitives import MalformedMessage


@pytest.mark.parametrize("version", range(4))
def test_the_topics_of_every_version_are_read(version: int) -> None:
    subscription = ConsumerProtocolSubscription(
        version=version, topics=["t", "u"], user_data=b"x", owned_partitions=[]
    )
    assert subscribed_topics(subscription.encode(version=version)) == {"t", "u"}


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\0\0\0\0\1", b"\0\0\xff\xff\xff\xff"])
def test_what_is_no_subscription_is_refused(metadata: bytes) -> None:
    with pytest.raises(MalformedMessage):
        subscribed_topics(metadata)
