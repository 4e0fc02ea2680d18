"""The cluster as this broker knows it: brokers, topics, partitions, settings.

Values are immutable; the image that holds them is changed in the loop's thread only, by the
controller on one node and by what the controller sends in a cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kwire.config.endpoints import Endpoint

NO_LEADER = -1
EVERY_BROKER = ""
"""The name under which settings for all brokers are kept."""


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Who has a partition, who leads it, and how often that changed."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0


@dataclass(frozen=True, slots=True)
class TopicImage:
    name: str
    topic_id: bytes
    partitions: Mapping[int, PartitionState]
    config: Mapping[str, str] = field(default_factory=dict)
    """Only what was set for this topic."""


@dataclass(frozen=True, slots=True)
class BrokerImage:
    node_id: int
    epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None

    def endpoint(self, listener_name: str) -> Endpoint | None:
        """Where clients of a listener reach this broker."""
        for endpoint in self.endpoints:
            if endpoint.name == listener_name:
                return endpoint
        return None


class ImageChange(NamedTuple):
    """What became different in one step; whoever listens converges on it, in any order."""

    topics: tuple[TopicImage, ...] = ()
    """New, or changed in any way."""
    deleted: tuple[TopicImage, ...] = ()
    broker_configs_changed: bool = False


class ClusterImage:
    """Everything known, by name and by id."""

    def __init__(self, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.controller_id = NO_LEADER
        self.brokers: dict[int, BrokerImage] = {}
        self.topics: dict[str, TopicImage] = {}
        self.version = 0
        """Grows whenever topics change, so that who looks again sees whether it has to."""
        self.broker_configs: dict[str, Mapping[str, str]] = {}
        """Dynamic settings by the text of a broker's id; `EVERY_BROKER` for all of them."""
        self._names: dict[bytes, str] = {}

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        name = self._names.get(topic_id)
        return None if name is None else self.topics[name]

    def apply(self, change: ImageChange) -> None:
        """Take over the topics of a change."""
        self.version += 1
        for topic in change.deleted:
            self.topics.pop(topic.name, None)
            self._names.pop(topic.topic_id, None)
        for topic in change.topics:
            self.topics[topic.name] = topic
            self._names[topic.topic_id] = topic.name
