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
from kwire.controller import settings, topics, znodes
from kwire.controller.commands import ConfigChange, MorePartitions, NewTopic
from kwire.controller.draft import Draft
from kwire.controller.election import Mandate, campaign
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
    Stat,
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

    def start(self, broker: BrokerImage, *, cluster_id: str | None = None) -> Later[None]:
        """Register this broker, become controller, and learn what the tree holds.

        A cluster that is not there yet gets `cluster_id`, or a random one. Raises StoreError, where
        the store's answer arrives, if that cannot be: a broker without metadata serves nothing.

        Leaders keep their epochs. Kafka elects anew when a broker comes back, and raises them,
        since meanwhile another replica may have led; on one node nobody else can have, so the
        epoch that clients remember stays true and their logs need no check for divergence.
        """
        registration = Create(
            znodes.broker_path(broker.node_id),
            znodes.encode_broker(
                broker, self.layers.broker.listener_security_protocol_map, self._clock.now_ms()
            ),
            ephemeral=True,
        )

        def lay_out(epoch: Stat | StoreError | None) -> Later[Sequence[Result] | StoreError]:
            if sure(epoch) is not None:
                return now([])
            return self._store.multi(znodes.empty_cluster(cluster_id or uuid_text(new_uuid())))

        def register(
            laid_out: Sequence[Result] | StoreError,
        ) -> Later[Sequence[Result] | StoreError]:
            sure(laid_out)
            return self._store.multi([registration])

        def elect(registered: Sequence[Result] | StoreError) -> Later[Mandate | StoreError]:
            sure(registered)
            return campaign(self._store, broker.node_id, self._clock.now_ms())

        def load(elected: Mandate | StoreError) -> Later[Mapping[str, StoredNode] | StoreError]:
            self._mandate = sure(elected)
            return self._store.tree("/")

        laid_out = chain(self._store.exists(znodes.CONTROLLER_EPOCH), lay_out)
        elected = chain(chain(laid_out, register), elect)
        return chain(elected, load).map(lambda nodes: self._take_over(sure(nodes)))

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

    def _take_over(self, nodes: Mapping[str, StoredNode]) -> None:
        self.image = znodes.read_cluster(nodes)
        configs = self.image.broker_configs
        try:
            self.layers = self.layers.with_dynamic(
                default=configs.get(EVERY_BROKER, {}), broker=configs.get(str(self._node_id), {})
            )
        except InvalidConfig as refused:
            # The file may have changed since they were set. As in Kafka, the broker starts.
            _log.error("dynamic settings do not apply: %s", refused.message)
        self._publish(
            ImageChange(
                topics=tuple(self.image.topics.values()), broker_configs_changed=bool(configs)
            )
        )

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
