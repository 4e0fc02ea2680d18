"""A whole node without sockets or a loop: real files, a real controller, a clock that stands still.

`ask` sends a request through the codec in both directions, as a client of that version would: a
field that the version does not have is lost on the way, and what cannot be encoded fails.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kwire.clock import ManualClock
from kwire.codec.apis import BY_KEY, Api
from kwire.codec.messages.produce import ProducePartition, ProduceRequest, ProduceTopic
from kwire.config.layered import load
from kwire.controller.commands import NewTopic
from kwire.controller.controller import Controller
from kwire.controller.image import BrokerImage, ImageChange, TopicImage
from kwire.controller.local_store import LocalStore
from kwire.controller.producer_ids import ProducerIds
from kwire.errors import ErrorCode, KwireError
from kwire.groups.service import OFFSETS_TOPIC, GroupService
from kwire.handlers.context import Node, Peer, RequestContext
from kwire.handlers.table import ROUTES
from kwire.log.flush import GroupCommit
from kwire.log.store import LogStore
from kwire.replication.fetch_sessions import FetchSessions
from kwire.replication.hosted import Hosted
from kwire.tasks import Later
from kwire.transactions.markers import Markers
from kwire.transactions.service import TransactionService

T = TypeVar("T")

NODE_ID = 1
LISTENER = "PLAINTEXT"
SETTINGS = {
    "node.id": str(NODE_ID),
    "listeners": "PLAINTEXT://localhost:9092,INSIDE://broker.local:9093",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
}


@dataclass
class ManualTimer:
    due: float
    callback: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class ManualScheduler:
    """The loop of a test: nothing happens until the test says so, and then all at once."""

    clock: ManualClock
    timers: list[ManualTimer] = field(default_factory=list)
    soon: list[Callable[[], None]] = field(default_factory=list)

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> ManualTimer:
        timer = ManualTimer(self.clock.monotonic() + delay_s, callback)
        self.timers.append(timer)
        return timer

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def in_pool(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        def run() -> None:
            try:
                outcome: T | Exception = work()
            except Exception as error:
                outcome = error
            done(outcome)

        self.soon.append(run)

    def end_turn(self) -> None:
        """Run what waits for the end of the turn, and what that asks for in turn."""
        while self.soon:
            waiting, self.soon = self.soon, []
            for callback in waiting:
                callback()

    def pass_time(self, ms: int) -> None:
        """Let the clock move, and call each timer at its time."""
        while True:
            self.timers = [timer for timer in self.timers if not timer.is_cancelled]
            first = min(self.timers, key=lambda timer: timer.due, default=None)
            if first is None:
                break
            wait_ms = max(round((first.due - self.clock.monotonic()) * 1000), 0)
            if wait_ms > ms:
                break
            ms -= wait_ms
            self.clock.advance(wait_ms)
            self.timers.remove(first)
            first.callback()
            self.end_turn()
        self.clock.advance(ms)
        self.end_turn()


class OpenNode:
    """A node with the hands that a test needs; `close` it when done."""

    def __init__(
        self,
        directory: Path,
        settings: dict[str, str] | None = None,
        *,
        loads_at_once: bool = True,
    ) -> None:
        layers = load(file={**SETTINGS, **(settings or {})})
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self._log_store = LogStore(directory, self.clock)
        self._store = LocalStore(directory)
        controller = Controller(self._store, layers, self.clock)
        self._hosted = Hosted(NODE_ID, self._log_store, layers.broker)
        group_commit = GroupCommit(self.scheduler, self.clock.monotonic)
        groups = GroupService(controller, self._hosted, group_commit, self.scheduler, self.clock)
        producer_ids = ProducerIds(self._store, NODE_ID)
        transactions = TransactionService(
            controller,
            self._hosted,
            group_commit,
            self.scheduler,
            self.clock,
            producer_ids,
            Markers(self._hosted, group_commit, self.clock, OFFSETS_TOPIC, groups.end_transaction),
        )
        self.node = Node(
            controller=controller,
            hosted=self._hosted,
            log_store=self._log_store,
            group_commit=group_commit,
            producer_ids=producer_ids,
            fetch_sessions=FetchSessions(1000, self.clock),
            groups=groups,
            transactions=transactions,
            scheduler=self.scheduler,
            clock=self.clock,
        )
        controller.subscribe(self._follow)
        config = layers.broker
        controller.start(BrokerImage(NODE_ID, 0, config.listeners, config.broker_rack))
        self.node.groups.start()
        self.node.transactions.start()
        if loads_at_once:
            self.scheduler.end_turn()

    def _follow(self, change: ImageChange) -> None:
        if change.broker_configs_changed:
            self._hosted.reconfigure(self.node.config)
        self._hosted.apply(change)

    def close(self) -> None:
        self.node.transactions.stop()
        self.node.groups.stop()
        self._store.close()
        self._log_store.close()

    def create(self, name: str, partitions: int = 1, **config: str) -> TopicImage:
        """Make a topic; a setting is written with `_` in place of `.`."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        made = self.node.controller.create_topics([NewTopic(name, partitions, config=settings)])
        assert made.value is not None
        (topic,) = made.value
        assert isinstance(topic, TopicImage)
        return topic

    def append(self, topic: str, batch: bytes | bytearray, partition: int = 0) -> int:
        """Produce one batch; returns the offset it landed at."""
        data = ProducePartition(index=partition, records=memoryview(batch))
        wanted = ProduceTopic(name=topic, partition_data=[data])
        answer = self.ask(ProduceRequest(acks=1, topic_data=[wanted]), 9)
        (landed,) = answer.responses[0].partition_responses
        assert landed.error_code == ErrorCode.NONE, landed
        offset: int = landed.base_offset
        return offset

    def ask(self, request: Any, version: int, listener_name: str = LISTENER) -> Any:
        """What a client of that version reads in answer to this request."""
        answer = self.begin(request, version, listener_name)
        assert answer.done, f"{type(request).__name__} is not answered yet"
        return answer.value

    def begin(self, request: Any, version: int, listener_name: str = LISTENER) -> Later[Any]:
        """Send a request whose answer may have to wait."""
        api = _api_of(request)
        ctx = RequestContext(self.node, version, "a-test", Peer("127.0.0.1", 50000, listener_name))
        route = ROUTES[api.key]
        sent = _through(api.encode_request(version), api.decode_request(version), request)
        try:
            answer = route.handle(ctx, sent)
        except KwireError as refusal:
            answer = route.refuse(ctx, sent, refusal.code)
        received: Later[Any] = Later()

        def receive(response: Any) -> None:
            encode, decode = api.encode_response(version), api.decode_response(version)
            received.complete(_through(encode, decode, response))

        if isinstance(answer, Later):
            answer.then(receive)
        else:
            receive(answer)
        return received


def _api_of(request: Any) -> Api:
    return next(api for api in BY_KEY.values() if api.name + "Request" == type(request).__name__)


def _through(encode: Any, decode: Any, message: Any) -> Any:
    # As in a connection's buffer, records may be stamped where they lie.
    frame = bytearray().join(map(bytes, encode(message)))
    read, end = decode(memoryview(frame), 0)
    assert end == len(frame)
    return read
