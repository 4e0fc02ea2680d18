"""The one who decides: topics, partitions and settings are changed here and nowhere else.

An operation is decided on a draft, stored in one multi that also checks that this is still the
controller, and then becomes visible: first in the image, then to whoever subscribed, then to the
client that asked.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kwire.clock import Clock
from kwire.config.layered import Layers
from kwire.controller import brokers, elections, settings, topics, znodes
from kwire.controller.commands import ConfigChange, MorePartitions, NewTopic
from kwire.controller.draft import Draft
from kwire.controller.election import Mandate
from kwire.controller.image import (
    EVERY_BROKER,
    NO_LEADER,
    BrokerImage,
    ClusterImage,
    ImageChange,
    TopicImage,
)
from kwire.controller.steps import chain, sure
from kwire.controller.store import (
    BadVersion,
    Create,
    MetadataStore,
    Result,
    SessionState,
    StoredNode,
    StoreError,
)
from kwire.errors import InvalidConfig, InvalidRequest, KwireError, NotController
from kwire.tasks import Later, now
from kwire.types import new_uuid, uuid_text

_log = logging.getLogger(__name__)

Item = TypeVar("Item")
R = TypeVar("R")


class Controller:
    def __init__(self, store: MetadataStore, layers: Layers, clock: Clock) -> None:
        self.image = ClusterImage("")
        self.layers = layers
        self.has_adopted = False
        """Whether the topics that were on disk before the cluster have been taken over."""
        self._store = store
        self._clock = clock
        self._node_id = layers.broker.node_id
        self._mandate: Mandate | None = None
        self._listeners: list[Callable[[ImageChange], None]] = []
        self._queue: deque[Callable[[], None]] = deque()
        store.on_session(self._follow_session)

    def subscribe(self, listener: Callable[[ImageChange], None]) -> None:
        """Be told of every change, in order, before the operation that made it is answered.

        The first one is what was there when the controller started.
        """
        self._listeners.append(listener)

    def start(
        self, broker: BrokerImage, *, cluster_id: str | None = None, was_clean: bool = True
    ) -> Later[None]:
        """Register this broker, become controller, and learn what the tree holds.

        A cluster that is not there yet gets `cluster_id`, or a random one. Raises StoreError, where
        the store's answer arrives, if that cannot be: a broker without metadata serves nothing.

        After a clean stop leaders keep their epochs: on one node nobody else can have led, so what
        clients remember is still true. Otherwise (`was_clean` is false) see `elections`.
        """
        joined = brokers.join(
            self._store,
            broker,
            self.layers.broker.listener_security_protocol_map,
            cluster_id=cluster_id or uuid_text(new_uuid()),
            now_ms=self._clock.now_ms(),
        )

        def load(mandate: Mandate) -> Later[Mapping[str, StoredNode] | StoreError]:
            self._mandate = mandate
            return self._store.tree("/")

        def elect(nodes: Mapping[str, StoredNode] | StoreError) -> Later[None]:
            self._read(sure(nodes))
            return now(None) if was_clean else self._elect_anew()

        return chain(chain(joined, load), elect).map(lambda _: self._publish_all())

    def create_topics(
        self, wanted: Sequence[NewTopic], *, validate_only: bool = False
    ) -> Later[list[TopicImage | KwireError]]:
        def decide(draft: Draft) -> list[TopicImage | KwireError]:
            try:
                topics.check_partition_total(draft, wanted)
            except KwireError as refused:
                return [refused for _ in wanted]
            return [_attempt(topics.create_topic, draft, new) for new in wanted]

        return self._perform(decide, validate_only=validate_only)

    def adopt_topics(self, found: Sequence[NewTopic]) -> Later[list[TopicImage | KwireError]]:
        """Take over topics that are on disk but not in the tree, once in the life of a cluster.

        Later on they would be what a deletion left behind. If some cannot be taken over, the next
        start tries again.
        """

        def decide(draft: Draft) -> list[TopicImage | KwireError]:
            adopted = [_attempt(topics.create_topic, draft, new) for new in found]
            if not any(isinstance(topic, KwireError) for topic in adopted):
                draft.ops.append(Create(znodes.ADOPTED))
            return adopted

        return self._perform(decide)

    def delete_topics(self, names: Sequence[str]) -> Later[list[KwireError | None]]:
        def decide(draft: Draft) -> list[KwireError | None]:
            return [_attempt(topics.delete_topic, draft, name) for name in names]

        return self._perform(decide)

    def create_partitions(
        self, wanted: Sequence[MorePartitions], *, validate_only: bool = False
    ) -> Later[list[KwireError | None]]:
        def decide(draft: Draft) -> list[KwireError | None]:
            return [_attempt(topics.add_partitions, draft, more) for more in wanted]

        return self._perform(decide, validate_only=validate_only)

    def alter_configs(
        self, changes: Sequence[ConfigChange], *, validate_only: bool = False
    ) -> Later[list[KwireError | None]]:
        repeated = settings.repeated(changes)

        def alter(draft: Draft, change: ConfigChange) -> None:
            if (change.scope, change.name) in repeated:
                raise InvalidRequest("Each resource must appear at most once.")
            settings.alter_config(draft, change, node_id=self._node_id)

        def decide(draft: Draft) -> list[KwireError | None]:
            return [_attempt(alter, draft, change) for change in changes]

        return self._perform(decide, validate_only=validate_only)

    def _read(self, nodes: Mapping[str, StoredNode]) -> None:
        self.image = znodes.read_cluster(nodes)
        self.has_adopted = znodes.ADOPTED in nodes
        configs = self.image.broker_configs
        try:
            self.layers = self.layers.with_dynamic(
                default=settings.known(configs.get(EVERY_BROKER, {})),
                broker=settings.known(configs.get(str(self._node_id), {})),
            )
        except InvalidConfig as refused:
            # The file may have changed since they were set. As in Kafka, the broker starts.
            _log.error("dynamic settings do not apply: %s", refused.message)

    def _elect_anew(self) -> Later[None]:
        assert self._mandate is not None
        draft = Draft(self.image, self.layers, self._mandate.epoch)
        elections.elect_again(draft, self._node_id)

        def apply(stored: Sequence[Result] | StoreError) -> None:
            sure(stored)
            self.image.apply(draft.change())

        return self._store.multi([self._mandate.check(), *draft.ops]).map(apply)

    def _publish_all(self) -> None:
        has_configs = bool(self.image.broker_configs)
        topics = tuple(self.image.topics.values())
        self._publish(ImageChange(topics=topics, broker_configs_changed=has_configs))

    def _perform(
        self,
        decide: Callable[[Draft], list[R | KwireError]],
        *,
        validate_only: bool = False,
    ) -> Later[list[R | KwireError]]:
        """Carry out one operation after the other: each decides on what the former left."""
        answer: Later[list[R | KwireError]] = Later()

        def begin() -> None:
            mandate = self._mandate
            draft = Draft(self.image, self.layers, mandate.epoch if mandate else -1)
            answers = self._decided(decide, draft)
            if mandate is None:
                self._end(lambda: answer.complete(_refused(answers, NotController())))
            elif validate_only or not draft.ops:
                self._end(lambda: answer.complete(answers))
            else:
                self._store.multi([mandate.check(), *draft.ops]).then(
                    lambda outcome: self._end(
                        lambda: answer.complete(self._concluded(draft, answers, outcome))
                    )
                )

        self._queue.append(begin)
        if len(self._queue) == 1:
            begin()
        return answer

    def _decided(
        self, decide: Callable[[Draft], list[R | KwireError]], draft: Draft
    ) -> list[R | KwireError]:
        try:
            return decide(draft)
        except BaseException:
            self._end(lambda: None)
            raise

    def _concluded(
        self, draft: Draft, answers: list[R | KwireError], outcome: Sequence[Result] | StoreError
    ) -> list[R | KwireError]:
        if not isinstance(outcome, StoreError):
            self._apply(draft)
            return answers
        if isinstance(outcome, BadVersion):
            # Only the controller's epoch is checked by its version: somebody else took over.
            self._resign()
            return _refused(answers, NotController())
        return _refused(answers, outcome)

    def _end(self, conclude: Callable[[], None]) -> None:
        """The operation at the head of the queue is decided: conclude it, then begin the next."""
        try:
            conclude()
        finally:
            self._queue.popleft()
            if self._queue:
                self._queue[0]()

    def _apply(self, draft: Draft) -> None:
        change = draft.change()
        self.layers = draft.layers
        self.image.broker_configs.update(draft.broker_configs)
        self.image.apply(change)
        self._publish(change)

    def _publish(self, change: ImageChange) -> None:
        for listener in self._listeners:
            listener(change)

    def _follow_session(self, state: SessionState) -> None:
        if state is SessionState.LOST:
            self._resign()

    def _resign(self) -> None:
        if self._mandate is not None:
            _log.info("no longer controller epoch=%d", self._mandate.epoch)
            self._mandate = None
            self.image.controller_id = NO_LEADER


def _attempt(decide: Callable[[Draft, Item], R], draft: Draft, item: Item) -> R | KwireError:
    try:
        return decide(draft, item)
    except KwireError as refused:
        return refused


def _refused(answers: list[R | KwireError], why: KwireError) -> list[R | KwireError]:
    """What was accepted could not be done after all; what was refused stays refused."""
    return [one if isinstance(one, KwireError) else why for one in answers]
