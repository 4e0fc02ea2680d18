"""The shards of one coordinator on this broker: which there are, and which one a key belongs to.

A shard exists for each partition of the internal topic that this broker leads. The topic is made
when somebody first asks who coordinates.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from kwire.clock import Clock
from kwire.controller.commands import NewTopic
from kwire.controller.controller import Controller
from kwire.controller.image import ImageChange, TopicImage
from kwire.coordinator.journal import PartitionJournal
from kwire.coordinator.loading import Loading
from kwire.coordinator.shard import Machine, Shard
from kwire.coordinator.timers import Timers
from kwire.errors import CoordinatorNotAvailable, KwireError, NotCoordinator
from kwire.log.flush import GroupCommit
from kwire.replication.hosted import Hosted
from kwire.tasks import Later, Scheduler, now

M = TypeVar("M", bound=Machine)

_log = logging.getLogger(__name__)


class Runtime(Generic[M]):
    def __init__(
        self,
        topic: NewTopic,
        new_machine: Callable[[], M],
        *,
        node_id: int,
        codec: int,
        piece_bytes: int,
        controller: Controller,
        hosted: Hosted,
        group_commit: GroupCommit,
        scheduler: Scheduler,
        clock: Clock,
    ) -> None:
        self._topic = topic
        self._new_machine = new_machine
        self._node_id = node_id
        self._codec = codec
        self._piece_bytes = piece_bytes
        self._controller = controller
        self._hosted = hosted
        self._group_commit = group_commit
        self._scheduler = scheduler
        self._clock = clock
        self._shards: dict[int, Shard[M]] = {}
        self._to_load: deque[Loading] = deque()
        self._is_loading = False
        self._is_starting = False

    def __iter__(self) -> Iterator[Shard[M]]:
        return iter(list(self._shards.values()))

    def shard_of(self, key: str) -> Shard[M]:
        """The shard that coordinates a group or transactional id, if that is here."""
        image = self._image()
        shard = None
        if image is not None:
            shard = self._shards.get(partition_of(key, len(image.partitions)))
        if shard is None:
            raise NotCoordinator()
        return shard

    def index_of(self, key: str) -> int:
        """The partition that keeps a key's state, also if the topic is not there yet."""
        image = self._image()
        count = self._topic.partition_count if image is None else len(image.partitions)
        return partition_of(key, count)

    def shard_at(self, index: int) -> Shard[M]:
        """The shard of one partition, if that is led from here."""
        shard = self._shards.get(index)
        if shard is None:
            raise NotCoordinator()
        return shard

    def leaders_of(self, keys: Sequence[str]) -> Later[list[int] | KwireError]:
        """Which brokers coordinate; the internal topic is made if nobody needed it before."""
        image = self._image()
        if image is not None:
            return now(_leaders(image, keys))
        created = self._controller.create_topics([self._topic])
        return created.map(lambda results: self._leaders_in(results[0], keys))

    def follow(self, change: ImageChange) -> None:
        """Open and close shards as the internal topic comes and goes."""
        if any(image.name == self._topic.name for image in change.deleted):
            self.close()
        for image in change.topics:
            if image.name == self._topic.name:
                self._open_led(image)

    def close(self) -> None:
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def _image(self) -> TopicImage | None:
        return self._controller.image.topics.get(self._topic.name)

    def _leaders_in(
        self, created: TopicImage | KwireError, keys: Sequence[str]
    ) -> list[int] | KwireError:
        """Two clients may have asked at once: the topic is there for the second one too."""
        image = self._image()
        if isinstance(created, KwireError) and image is None:
            _log.error("internal topic not created topic=%s: %s", self._topic.name, created.message)
            return CoordinatorNotAvailable()
        assert image is not None
        return _leaders(image, keys)

    def _open_led(self, image: TopicImage) -> None:
        for index, state in image.partitions.items():
            if state.leader == self._node_id and index not in self._shards:
                try:
                    self._open(index)
                except KwireError as error:
                    _log.error("shard not opened shard=%s-%d: %s", image.name, index, error.message)

    def _open(self, index: int) -> None:
        partition = self._hosted.find(self._topic.name, index)
        machine = self._new_machine()
        journal = PartitionJournal(partition, self._group_commit, self._codec)
        timers = Timers(self._scheduler, self._clock)
        shard = self._shards[index] = Shard(machine, journal, timers, self._clock)

        def done(error: Exception | None) -> None:
            if error is not None:
                _log.error("shard not loaded shard=%s-%d: %s", self._topic.name, index, error)
            shard.finish_loading(error)
            self._is_loading = False
            self._load_next()

        loading = Loading(
            partition.log,
            partition.high_watermark,
            machine,
            piece_bytes=self._piece_bytes,
            scheduler=self._scheduler,
            done=done,
        )
        self._to_load.append(loading)
        self._load_next()

    def _load_next(self) -> None:
        """Load one shard at a time: all at once would not let clients have their turns."""
        if self._is_starting:
            return
        self._is_starting = True
        while self._to_load and not self._is_loading:
            self._is_loading = True
            # An empty log is loaded when this returns.
            self._to_load.popleft().start()
        self._is_starting = False


def partition_of(key: str, partition_count: int) -> int:
    """Where a key's state is kept: Java's hash of its text, without the sign."""
    return (java_hash(key) & 0x7FFF_FFFF) % partition_count


def java_hash(text: str) -> int:
    """What `String.hashCode` gives, as an unsigned number: it counts UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    total = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        total = (total * 31 + (high << 8 | low)) & 0xFFFF_FFFF
    return total


def _leaders(image: TopicImage, keys: Sequence[str]) -> list[int]:
    count = len(image.partitions)
    return [image.partitions[partition_of(key, count)].leader for key in keys]
