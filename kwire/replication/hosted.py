"""The partitions this broker hosts, kept in step with the controller's image of the cluster."""

import logging
from collections.abc import Collection, Iterator

from kwire.config.broker import BrokerConfig
from kwire.config.topic import TopicConfig, resolve_topic
from kwire.controller.image import ImageChange, TopicImage
from kwire.errors import (
    InvalidConfig,
    KafkaStorageError,
    NotLeaderOrFollower,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from kwire.log.store import LogStore
from kwire.replication.partition import Partition
from kwire.types import TopicPartition

_log = logging.getLogger(__name__)


class Hosted:
    def __init__(self, node_id: int, log_store: LogStore, config: BrokerConfig) -> None:
        self._node_id = node_id
        self._log_store = log_store
        self._config = config
        self._topics: dict[str, dict[int, Partition]] = {}
        self._images: dict[str, TopicImage] = {}
        self._names: dict[bytes, str] = {}

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._topics.values():
            yield from partitions.values()

    def find(self, topic: str, index: int) -> Partition:
        """The partition, if it is led from here; raises what the client must be told otherwise."""
        try:
            partition = self._topics[topic][index]
        except KeyError:
            raise self._absence(topic, index) from None
        if partition.leader != self._node_id:
            raise NotLeaderOrFollower()
        return partition

    def find_by_id(self, topic_id: bytes, index: int) -> Partition:
        topic = self._names.get(topic_id)
        if topic is None:
            raise UnknownTopicId()
        return self.find(topic, index)

    def online(self, topic: str) -> Collection[int]:
        """The partitions of a topic whose logs can be used here."""
        if self._log_store.fault is not None:
            return ()
        return self._topics.get(topic, {}).keys()

    def apply(self, change: ImageChange) -> None:
        """Create, reconfigure and drop partitions as the controller says; idempotent."""
        for image in change.deleted:
            self._drop(image)
        for image in change.topics:
            self._host(image)

    def reconfigure(self, config: BrokerConfig) -> None:
        """The broker's own settings changed: topics that do not override them follow."""
        self._config = config
        for image in self._images.values():
            self._host(image)

    def _host(self, image: TopicImage) -> None:
        config = self._resolve(image)
        partitions = self._topics.setdefault(image.name, {})
        self._images[image.name] = image
        self._names[image.topic_id] = image.name
        for index, state in image.partitions.items():
            known = partitions.get(index)
            if known is not None:
                known.follow(state)
                known.log.reconfigure(config)
                continue
            if self._node_id not in state.replicas:
                continue
            try:
                log = self._log_store.open_or_create(image.name, index, image.topic_id, config)
            except KafkaStorageError as error:
                _log.error("partition offline topic=%s partition=%d: %s", image.name, index, error)
                continue
            partitions[index] = Partition(
                image.name,
                image.topic_id,
                index,
                log,
                leader=state.leader,
                leader_epoch=state.leader_epoch,
                replicas=state.replicas,
                in_sync=state.isr,
            )

    def _resolve(self, image: TopicImage) -> TopicConfig:
        """The topic's settings, or the defaults where another version of kwire stored them.

        As in Kafka a broker starts nevertheless, and says so.
        """
        try:
            return resolve_topic(image.config, self._config)
        except InvalidConfig as refused:
            _log.error("settings do not apply topic=%s: %s", image.name, refused.message)
            return self._config.topic_defaults

    def _drop(self, image: TopicImage) -> None:
        self._images.pop(image.name, None)
        self._names.pop(image.topic_id, None)
        for partition in self._topics.pop(image.name, {}).values():
            partition.wake()
        # Offline partitions have a directory too, though nobody could open it.
        for index in image.partitions:
            self._log_store.delete(TopicPartition(image.name, index))

    def _absence(self, topic: str, index: int) -> Exception:
        image = self._images.get(topic)
        if image is None or index not in image.partitions:
            return UnknownTopicOrPartition()
        if self._node_id in image.partitions[index].replicas:
            return KafkaStorageError(f"{topic}-{index} is offline: its log could not be opened")
        return NotLeaderOrFollower()
