"""Who is to read which partition: the assignors that run here, not in a client (KIP-848).

`uniform` gives everybody the same number of partitions, and moves no more than that takes. `range`
gives neighbours of one topic to one member, and the same neighbours of every topic, so that topics
with the same keys can be joined. Both are pure: the same group gives the same assignment.
"""

import heapq
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeAlias

from kwire.groups.modern_members import NONE, IdPartition, Partitions


class Subscriber(NamedTuple):
    topic_ids: frozenset[bytes]
    """Topics that exist and that the member wants to read."""
    instance_id: str | None = None
    target: Partitions = NONE
    """What it was to have until now."""


Assignor: TypeAlias = Callable[
    [Mapping[str, Subscriber], Mapping[bytes, int]], dict[str, Partitions]
]
"""From subscribers by member id, and the number of each topic's partitions."""


def assign_ranges(
    subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Partitions]:
    shares: dict[str, set[IdPartition]] = {member_id: set() for member_id in subscribers}
    in_order = sorted(subscribers, key=lambda member_id: _rank(member_id, subscribers[member_id]))
    for topic_id, count in partition_counts.items():
        readers = [one for one in in_order if topic_id in subscribers[one].topic_ids]
        start = 0
        for index, member_id in enumerate(readers):
            size = count // len(readers) + (index < count % len(readers))
            shares[member_id].update(
                IdPartition(topic_id, partition) for partition in range(start, start + size)
            )
            start += size
    return {member_id: frozenset(share) for member_id, share in shares.items()}


def _rank(member_id: str, subscriber: Subscriber) -> tuple[bool, str]:
    """Static members first, by their instance ids: they keep their ranges when they come back."""
    instance_id = subscriber.instance_id
    return (instance_id is None, member_id if instance_id is None else instance_id)


def assign_uniformly(
    subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Partitions]:
    shares = _Shares(subscribers, partition_counts)
    # Topics with few readers go first: whoever reads many topics can be given others instead.
    for topic_id in sorted(shares.readers, key=lambda one: (len(shares.readers[one]), one)):
        shares.hand_out(topic_id, partition_counts[topic_id])
    has_moved = True
    while has_moved:
        has_moved = False
        for topic_id in shares.readers:
            has_moved |= shares.level(topic_id)
    return shares.result()


class _Shares:
    """What each member has while partitions are handed out."""

    def __init__(
        self, subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
    ) -> None:
        self._topics: dict[str, dict[bytes, list[int]]] = {one: {} for one in subscribers}
        self._loads: dict[str, int] = dict.fromkeys(subscribers, 0)
        self._taken: set[IdPartition] = set()
        self.readers: dict[bytes, list[str]] = {}
        for member_id, subscriber in sorted(subscribers.items()):
            for topic_id in sorted(subscriber.topic_ids & partition_counts.keys()):
                self.readers.setdefault(topic_id, []).append(member_id)
            self._keep(member_id, subscriber, partition_counts)

    def _keep(
        self, member_id: str, subscriber: Subscriber, partition_counts: Mapping[bytes, int]
    ) -> None:
        for one in sorted(subscriber.target):
            exists = one.partition < partition_counts.get(one.topic_id, 0)
            if exists and one.topic_id in subscriber.topic_ids and one not in self._taken:
                self._give(member_id, one)

    def hand_out(self, topic_id: bytes, count: int) -> None:
        """Give what nobody has to whoever has least."""
        left = [one for one in _partitions(topic_id, count) if one not in self._taken]
        readers = self._by_load(self.readers[topic_id])
        for one in left:
            load, member_id = heapq.heappop(readers)
            self._give(member_id, one)
            heapq.heappush(readers, (load + 1, member_id))

    def level(self, topic_id: bytes) -> bool:
        """Move partitions of one topic from who has most to who has least; says if any moved."""
        readers = self._by_load(self.readers[topic_id])
        givers = [
            (-load, member_id) for load, member_id in readers if self._has(member_id, topic_id)
        ]
        heapq.heapify(givers)
        has_moved = False
        while givers:
            most, giver = givers[0]
            least, taker = readers[0]
            # Moving changes loads that the heaps do not see; an entry is put right when it is next.
            if self._loads[giver] != -most:
                heapq.heapreplace(givers, (-self._loads[giver], giver))
            elif self._loads[taker] != least:
                heapq.heapreplace(readers, (self._loads[taker], taker))
            elif -most - least < 2:
                break
            else:
                self._move(topic_id, giver, taker)
                has_moved = True
                if not self._has(giver, topic_id):
                    heapq.heappop(givers)
        return has_moved

    def result(self) -> dict[str, Partitions]:
        return {
            member_id: frozenset(
                IdPartition(topic_id, partition)
                for topic_id, partitions in topics.items()
                for partition in partitions
            )
            for member_id, topics in self._topics.items()
        }

    def _by_load(self, members: Collection[str]) -> list[tuple[int, str]]:
        """A heap of members: who has least comes first."""
        return sorted((self._loads[member_id], member_id) for member_id in members)

    def _has(self, member_id: str, topic_id: bytes) -> bool:
        return bool(self._topics[member_id].get(topic_id))

    def _give(self, member_id: str, one: IdPartition) -> None:
        self._topics[member_id].setdefault(one.topic_id, []).append(one.partition)
        self._loads[member_id] += 1
        self._taken.add(one)

    def _move(self, topic_id: bytes, giver: str, taker: str) -> None:
        partition = self._topics[giver][topic_id].pop()
        self._loads[giver] -= 1
        self._give(taker, IdPartition(topic_id, partition))


def _partitions(topic_id: bytes, count: int) -> list[IdPartition]:
    return [IdPartition(topic_id, partition) for partition in range(count)]


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniformly, "range": assign_ranges}
