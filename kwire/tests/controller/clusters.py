"""What tests of the controller's room share: a broker, a controller, and a store that dawdles."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from kwire.clock import Clock, ManualClock
from kwire.config.endpoints import Endpoint
from kwire.config.layered import load
from kwire.controller.controller import Controller
from kwire.controller.image import BrokerImage
from kwire.controller.local_store import LocalStore
from kwire.controller.store import (
    MetadataStore,
    Op,
    Result,
    SessionState,
    Stat,
    StoredNode,
    StoreError,
    Watcher,
)
from kwire.tasks import Later

NODE_ID = 1
ENDPOINTS = (Endpoint("PLAINTEXT", "localhost", 9092),)

T = TypeVar("T")


def value_of(later: Later[T]) -> T:
    """What a store without waiting has answered."""
    found: list[T] = []
    later.then(found.append)
    assert found, "not answered yet"
    return found[0]


def a_broker(node_id: int = NODE_ID, *, rack: str | None = None) -> BrokerImage:
    return BrokerImage(node_id, 0, ENDPOINTS, rack)


def a_controller(
    store: MetadataStore, *, config: Mapping[str, str] | None = None, clock: Clock | None = None
) -> Controller:
    """A controller that has not been started."""
    layers = load(file={"node.id": str(NODE_ID), **(config or {})})
    return Controller(store, layers, clock or ManualClock())


class RunningController:
    """A started controller over a directory, until it is closed and opened again."""

    def __init__(self, directory: Path, config: Mapping[str, str] | None = None) -> None:
        self.store = LocalStore(directory)
        self.controller = a_controller(self.store, config=config)
        value_of(self.controller.start(a_broker()))


class DawdlingStore:
    """A store that answers reads and writes only when told to, as one over a network does."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._pending: deque[Callable[[], None]] = deque()
        self.multi_count = 0

    @property
    def state(self) -> SessionState:
        return self._store.state

    @property
    def session_id(self) -> int:
        return self._store.session_id

    def on_session(self, listener: Callable[[SessionState], None]) -> None:
        self._store.on_session(listener)

    def get(self, path: str, watcher: Watcher | None = None) -> Later[StoredNode | StoreError]:
        return self._later(lambda: self._store.get(path, watcher))

    def exists(self, path: str, watcher: Watcher | None = None) -> Later[Stat | StoreError | None]:
        return self._later(lambda: self._store.exists(path, watcher))

    def children(self, path: str, watcher: Watcher | None = None) -> Later[list[str] | StoreError]:
        return self._later(lambda: self._store.children(path, watcher))

    def tree(self, path: str) -> Later[Mapping[str, StoredNode] | StoreError]:
        return self._later(lambda: self._store.tree(path))

    def multi(self, ops: Sequence[Op]) -> Later[Sequence[Result] | StoreError]:
        self.multi_count += 1
        return self._later(lambda: self._store.multi(ops))

    def close(self) -> None:
        self._store.close()

    def answer_one(self) -> None:
        """Carry out and answer the oldest call."""
        self._pending.popleft()()

    def answer_all(self) -> None:
        while self._pending:
            self.answer_one()

    def _later(self, call: Callable[[], Later[T]]) -> Later[T]:
        answer: Later[T] = Later()
        self._pending.append(lambda: call().then(answer.complete))
        return answer
