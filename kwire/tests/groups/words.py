"""Partitions, subscriptions and assignments as stories write them: t:0,1 u:2, and `nothing`.

In one word of a story `+` stands between topics: owned=t:0,1+u:2.
"""

from collections.abc import Iterable

from kwire.codec.internal.consumer_protocol import (
    FullSubscription,
    NamedPartitions,
    read_assignment,
    write_assignment,
)
from kwire.codec.internal.versioned import Format
from kwire.groups.modern_members import IdPartition

_SUBSCRIPTION = Format(FullSubscription, (0, 3), None)


def subscription(*topics: str, owned: str | None = None) -> bytes:
    """What a consumer says it wants to read, and what it has."""
    if owned is None:
        return _SUBSCRIPTION.write(FullSubscription(topics=list(topics)), 0)
    full = FullSubscription(topics=list(topics), owned_partitions=named(owned))
    return _SUBSCRIPTION.write(full, 1)


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def by_name(partitions: Iterable[IdPartition]) -> str:
    names: dict[str, list[str]] = {}
    for raw, partition in sorted(partitions):
        names.setdefault(raw.rstrip(b"\0").decode(), []).append(str(partition))
    return " ".join(f"{name}:{','.join(indexes)}" for name, indexes in names.items()) or "nothing"


def named(text: str) -> list[NamedPartitions]:
    words = [one.split(":") for one in text.split("+") if one != "nothing"]
    return [
        NamedPartitions(topic=topic, partitions=[int(one) for one in indexes.split(",")])
        for topic, indexes in words
    ]


def by_id(text: str) -> frozenset[IdPartition]:
    return frozenset(
        IdPartition(topic_id(one.topic), index) for one in named(text) for index in one.partitions
    )


def packed(text: str) -> bytes:
    """An assignment: as consumers write it, if it has partitions, or any other text."""
    return write_assignment(named(text), b"\0\0") if ":" in text else text.encode()


def unpacked(assignment: bytes) -> str:
    if not assignment.startswith(b"\0"):
        return assignment.decode() or "nothing"
    found = read_assignment(assignment)
    return by_name(IdPartition(topic_id(one.topic), p) for one in found for p in one.partitions)
