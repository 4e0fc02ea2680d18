"""What one operation is about to change: decided on top of the image, applied once it is stored."""

from collections.abc import Mapping

from kwire.config.layered import Layers
from kwire.controller import znodes
from kwire.controller.image import ClusterImage, ImageChange, PartitionState, TopicImage
from kwire.controller.store import Create, Delete, Op, Put


class Draft:
    """Items of one operation see what the items before them will have done."""

    def __init__(self, image: ClusterImage, layers: Layers, controller_epoch: int) -> None:
        self.image = image
        self.layers = layers
        self.ops: list[Op] = []
        self.broker_configs: dict[str, Mapping[str, str]] = {}
        self.new_partition_count = 0
        self._controller_epoch = controller_epoch
        self._topics: dict[str, TopicImage] = {}
        self._deleted: dict[str, TopicImage] = {}
        self._by_metric_name: dict[str, str] | None = None

    def topic(self, name: str) -> TopicImage | None:
        if name in self._deleted:
            return None
        return self._topics.get(name) or self.image.topics.get(name)

    def colliding_topic(self, name: str) -> str | None:
        """A topic whose name is the same once '.' and '_' are."""
        if "." not in name and "_" not in name:
            return None
        if self._by_metric_name is None:
            self._by_metric_name = {_metric_name(other): other for other in self.image.topics}
        return self._by_metric_name.get(_metric_name(name))

    def configured_topics(self) -> list[TopicImage]:
        """Topics with settings of their own, as they will be."""
        names = {*self.image.topics, *self._topics}.difference(self._deleted)
        found = (self._topics.get(name) or self.image.topics[name] for name in names)
        return [topic for topic in found if topic.config]

    def create_topic(self, topic: TopicImage) -> None:
        self._topics[topic.name] = topic
        if self._by_metric_name is not None:
            self._by_metric_name[_metric_name(topic.name)] = topic.name
        self.ops += [
            Create(znodes.topic_path(topic.name), znodes.encode_topic(topic)),
            Create(znodes.topic_config_path(topic.name), znodes.encode_config(topic.config)),
            Create(znodes.partitions_path(topic.name)),
        ]
        self._create_partitions(topic.name, topic.partitions)

    def delete_topic(self, topic: TopicImage) -> None:
        self._deleted[topic.name] = topic
        for index in topic.partitions:
            self.ops += [
                Delete(znodes.state_path(topic.name, index)),
                Delete(znodes.partition_path(topic.name, index)),
            ]
        self.ops += [
            Delete(znodes.partitions_path(topic.name)),
            Delete(znodes.topic_config_path(topic.name)),
            Delete(znodes.topic_path(topic.name)),
        ]

    def add_partitions(self, topic: TopicImage, added: Mapping[int, PartitionState]) -> None:
        grown = TopicImage(topic.name, topic.topic_id, {**topic.partitions, **added}, topic.config)
        self._topics[topic.name] = grown
        self.ops.append(Put(znodes.topic_path(topic.name), znodes.encode_topic(grown)))
        self._create_partitions(topic.name, added)

    def change_partitions(self, topic: TopicImage, changed: Mapping[int, PartitionState]) -> None:
        """Other states for some partitions, unless their leader has written them meanwhile."""
        self._topics[topic.name] = TopicImage(
            topic.name, topic.topic_id, {**topic.partitions, **changed}, topic.config
        )
        for index, data in self._encode(changed).items():
            path = znodes.state_path(topic.name, index)
            self.ops.append(Put(path, data, version=topic.partitions[index].partition_epoch))

    def configure_topic(self, topic: TopicImage, config: Mapping[str, str]) -> None:
        self._topics[topic.name] = TopicImage(topic.name, topic.topic_id, topic.partitions, config)
        self.ops.append(Put(znodes.topic_config_path(topic.name), znodes.encode_config(config)))

    def broker_config(self, name: str) -> Mapping[str, str]:
        return self.broker_configs.get(name, self.image.broker_configs.get(name, {}))

    def configure_broker(self, name: str, config: Mapping[str, str], layers: Layers) -> None:
        path, data = znodes.broker_config_path(name), znodes.encode_config(config)
        is_known = name in self.broker_configs or name in self.image.broker_configs
        self.ops.append(Put(path, data) if is_known else Create(path, data))
        self.broker_configs[name] = config
        self.layers = layers

    def change(self) -> ImageChange:
        return ImageChange(
            topics=tuple(self._topics.values()),
            deleted=tuple(self._deleted.values()),
            broker_configs_changed=bool(self.broker_configs),
        )

    def _create_partitions(self, topic: str, partitions: Mapping[int, PartitionState]) -> None:
        self.new_partition_count += len(partitions)
        for index, data in self._encode(partitions).items():
            self.ops += [
                Create(znodes.partition_path(topic, index)),
                Create(znodes.state_path(topic, index), data),
            ]

    def _encode(self, partitions: Mapping[int, PartitionState]) -> dict[int, bytes]:
        """The data of each state; those that are alike are encoded once."""
        encoded = {
            state: znodes.encode_state(state, self._controller_epoch)
            for state in set(partitions.values())
        }
        return {index: encoded[state] for index, state in partitions.items()}


def _metric_name(topic: str) -> str:
    return topic.replace(".", "_")
