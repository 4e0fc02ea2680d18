"""One broker: the rooms are built here, started bottom-up and stopped top-down.

Everything a broker owns hangs on an `App`; two of them can live in one process. `start` returns
when clients can connect, `run` serves until `stop_soon` was called, `close` lets go of everything
whatever happened before.
"""

import asyncio
import logging
import socket
from collections.abc import Sequence
from pathlib import Path

from kwire.clock import Clock, SystemClock
from kwire.config.endpoints import Endpoint, reachable
from kwire.config.layered import Layers
from kwire.controller.commands import NewTopic
from kwire.controller.controller import Controller
from kwire.controller.image import BrokerImage, ImageChange, TopicImage
from kwire.controller.local_store import LocalStore
from kwire.controller.producer_ids import BLOCK_SIZE, ProducerIds
from kwire.errors import ErrorCode, KwireError
from kwire.groups.service import OFFSETS_TOPIC, GroupService
from kwire.handlers.context import Node
from kwire.log.directory import FoundTopic
from kwire.log.flush import GroupCommit
from kwire.log.leader_epochs import LeaderEpochs
from kwire.log.store import LogStore
from kwire.replication.duties import Duties
from kwire.replication.fetch_sessions import FetchSessions
from kwire.replication.hosted import Hosted
from kwire.server.dispatch import Dispatch
from kwire.server.listener import Listeners
from kwire.server.loop import LoopScheduler, new_event_loop
from kwire.tasks import Later
from kwire.transactions.markers import Markers
from kwire.transactions.service import TransactionService
from kwire.types import new_uuid

_log = logging.getLogger(__name__)


class App:
    def __init__(self, layers: Layers, *, clock: Clock | None = None) -> None:
        """Take the data directory; nothing is served yet."""
        config = layers.broker
        self._clock = clock or SystemClock()
        self._loop = new_event_loop()
        self._scheduler = LoopScheduler(self._loop)
        self.log_store = LogStore(Path(config.log_dirs[0]), self._clock)
        self._store = LocalStore(self.log_store.directory)
        self.controller = Controller(self._store, layers, self._clock)
        self.hosted = Hosted(config.node_id, self.log_store, config)
        self.controller.subscribe(self._follow)
        group_commit = GroupCommit(self._scheduler, self._clock.monotonic)
        self.groups = GroupService(
            self.controller, self.hosted, group_commit, self._scheduler, self._clock
        )
        producer_ids = ProducerIds(self._store, config.node_id)
        self.transactions = TransactionService(
            self.controller,
            self.hosted,
            group_commit,
            self._scheduler,
            self._clock,
            producer_ids,
            Markers(
                self.hosted, group_commit, self._clock, OFFSETS_TOPIC, self.groups.end_transaction
            ),
        )
        self.node = Node(
            controller=self.controller,
            hosted=self.hosted,
            log_store=self.log_store,
            group_commit=group_commit,
            producer_ids=producer_ids,
            fetch_sessions=FetchSessions(
                config.max_incremental_fetch_session_cache_slots, self._clock
            ),
            groups=self.groups,
            transactions=self.transactions,
            scheduler=self._scheduler,
            clock=self._clock,
        )
        self._duties = Duties(
            config, self.hosted, self.log_store, group_commit, self._scheduler, self._clock
        )
        self.controller.subscribe(self._duties.follow)
        self._listeners = Listeners(config, Dispatch(self.node), self._clock, self._loop)
        self.endpoints: tuple[Endpoint, ...] = ()

    @property
    def directory(self) -> Path:
        return self.log_store.directory

    def start(self, topics: Sequence[NewTopic] = ()) -> None:
        """Open every log, join the cluster, make the topics asked for, and accept clients."""
        config = self.controller.layers.broker
        ports = {one.name: self._listeners.bind(one) for one in config.listeners}
        host_name = "localhost" if _is_local(config.listeners) else socket.getfqdn()
        self.endpoints = reachable(config.advertised_listeners, ports, host_name)
        me = BrokerImage(config.node_id, 0, self.endpoints, config.broker_rack)
        self.controller.start(
            me, cluster_id=self.log_store.cluster_id, was_clean=self.log_store.was_clean
        )
        self.log_store.claim(config.node_id, self.controller.image.cluster_id)
        self._look_at_strangers()
        self._keep_ids_of_producers()
        _expect(self.controller.create_topics(topics))
        self.groups.start()
        self.transactions.start()
        self._listeners.start()
        self._duties.start()

    def run(self) -> None:
        """Serve until `stop_soon`; everything a client does happens in here."""
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            asyncio.set_event_loop(None)

    def stop_soon(self) -> None:
        """End `run`; may be called from any thread and from signal handlers."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Let clients go, bring all logs to disk, and leave the directory to the next broker."""
        self._listeners.stop_accepting()
        self._listeners.close_connections()
        self._duties.stop()
        self.transactions.stop()
        self.groups.stop()
        self._scheduler.close()
        self._store.close()
        self.log_store.close()
        self._loop.close()

    def _follow(self, change: ImageChange) -> None:
        if change.broker_configs_changed:
            config = self.controller.layers.broker
            self.hosted.reconfigure(config)
            self._duties.reconfigure(config)
            self._listeners.reconfigure(config)
        self.hosted.apply(change)

    def _look_at_strangers(self) -> None:
        """Partitions that are in the directory, but not in the metadata.

        A directory that was written by Kafka becomes ours by starting on it. Later they can only be
        what a deletion left behind when it was interrupted: they are not served, and not removed
        either, since whoever put them there may know better.
        """
        known = self.controller.image.topics
        strangers = {n: found for n, found in self.log_store.found().items() if n not in known}
        names = ", ".join(strangers)
        if not self.controller.has_adopted:
            if strangers:
                _log.info("topics found in the directory and adopted: %s", names)
            adopted = [self._as_found(name, found) for name, found in strangers.items()]
            _expect(self.controller.adopt_topics(adopted))
        elif strangers:
            _log.warning("directories of topics that do not exist are left alone: %s", names)

    def _keep_ids_of_producers(self) -> None:
        """Give no producer the id of another that the logs know, perhaps from Kafka's times.

        Its first batch would be taken for one that was sent twice. The ids after those may be in
        use too, by producers that have not written yet.
        """
        used = (producer_id for one in self.hosted for producer_id, _ in one.log.producers)
        highest = max(used, default=None)
        if highest is not None:
            self.node.producer_ids.stay_above(highest + BLOCK_SIZE)

    def _as_found(self, name: str, found: FoundTopic) -> NewTopic:
        """Settings are not in the directory; those of internal topics must not be lost, though."""
        node_id = self.controller.layers.broker.node_id
        internal = {topic.name: topic for topic in (self.groups.topic, self.transactions.topic)}
        return NewTopic(
            name,
            assignment=dict.fromkeys(found.partitions, (node_id,)),
            config=internal[name].config if name in internal else {},
            topic_id=found.topic_id or new_uuid(),
            leader_epoch=self._next_leader_epoch(name, found.partitions),
        )

    def _next_leader_epoch(self, topic: str, partitions: Sequence[int]) -> int:
        """Above all that the records on disk have; to clients an epoch that falls is no news."""
        latest = -1
        for index in partitions:
            epochs = LeaderEpochs(f"{self.directory}/{topic}-{index}/leader-epoch-checkpoint")
            epochs.load()
            latest = max(latest, epochs.latest)
        return latest + 1


def _expect(made: Later[list[TopicImage | KwireError]]) -> None:
    """Topics that a start needs; one that exists stays as it is."""
    outcome: list[list[TopicImage | KwireError]] = []
    made.then(outcome.append)
    for result in outcome[0]:
        if isinstance(result, KwireError) and result.code != ErrorCode.TOPIC_ALREADY_EXISTS:
            raise result


def _is_local(listeners: Sequence[Endpoint]) -> bool:
    return all(one.host in ("localhost", "127.0.0.1", "::1") for one in listeners)
