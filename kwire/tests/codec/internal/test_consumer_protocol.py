"""What consumers tell each other, as far as a coordinator reads it."""

import pytest
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from kwire.codec.internal.consumer_protocol import read_assignment, subscribed_topics
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


@pytest.mark.parametrize("version", range(4))
def test_the_partitions_of_every_version_are_read(version: int) -> None:
    topics = [ConsumerProtocolAssignment.TopicPartition(topic="t", partitions=[0, 2])]
    assignment = ConsumerProtocolAssignment(
        version=version, assigned_partitions=topics, user_data=None
    )
    (read,) = read_assignment(assignment.encode(version=version))
    assert (read.topic, read.partitions) == ("t", [0, 2])


def test_without_an_assignment_nothing_is_read() -> None:
    assert read_assignment(b"") == []
