"""Where the cluster's metadata is kept: a versioned tree with ephemeral nodes, as ZooKeeper has it.

Only the interface lives here. `local_store` keeps the tree in files of one node; a cluster keeps
it in ZooKeeper. Both pass the same conformance tests.

A call that may have to wait returns a `Later`, whose value is either what was asked for or a
`StoreError`: an answer that comes later has nobody to raise to. All callbacks happen in the loop's
thread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from kwire.errors import ErrorCode, KwireError
from kwire.tasks import Later

ANY_VERSION = -1
NO_OWNER = 0


class StoreError(KwireError):
    """The metadata store did not do it; nothing of the call has happened, unless said otherwise."""

    code = ErrorCode.UNKNOWN_SERVER_ERROR


class NoNode(StoreError):
    """There is no node at the path."""


class NodeExists(StoreError):
    """There is a node at the path already."""


class BadVersion(StoreError):
    """The node has another version than expected: somebody else wrote it."""


class NotEmpty(StoreError):
    """The node has children."""


class EphemeralParent(StoreError):
    """An ephemeral node cannot have children."""


class SessionLost(StoreError):
    """The session is over. Whether the call was carried out is not known."""


class StoreFailed(StoreError):
    """The store could not write it down."""

    code = ErrorCode.KAFKA_STORAGE_ERROR


class Stat(NamedTuple):
    """When a node came to be, when it changed, how often, and which session it goes with."""

    version: int
    czxid: int
    mzxid: int
    owner: int = NO_OWNER


class StoredNode(NamedTuple):
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Create:
    """Make a node below one that exists; `sequential` appends the next ten-digit number."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """Let the whole multi fail unless the node has this version."""

    path: str
    version: int


Op = Create | Put | Delete | Check
Result = str | Stat | None
"""The path of a Create, the new stat of a Put, nothing otherwise."""


class EventKind(Enum):
    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    CHILDREN = "children"


class Event(NamedTuple):
    kind: EventKind
    path: str


Watcher = Callable[[Event], None]


class SessionState(Enum):
    """With SUSPENDED nobody knows whether the session lives; with LOST its ephemerals are gone."""

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    LOST = "lost"


class MetadataStore(Protocol):
    """Watches fire once. A watcher learns of a change before a read or a multi's answer shows it:
    who was told nothing has seen everything.
    """

    @property
    def state(self) -> SessionState: ...

    @property
    def session_id(self) -> int:
        """What `Stat.owner` says of our own ephemeral nodes."""

    def on_session(self, listener: Callable[[SessionState], None]) -> None:
        """Call back whenever the session's state changes."""

    def get(self, path: str, watcher: Watcher | None = None) -> Later[StoredNode | StoreError]:
        """The node. The watch fires when it changes or goes; none is left if there is no node."""

    def exists(self, path: str, watcher: Watcher | None = None) -> Later[Stat | StoreError | None]:
        """The node's stat or None. The watch fires when it comes, changes or goes."""

    def children(self, path: str, watcher: Watcher | None = None) -> Later[list[str] | StoreError]:
        """The names below the node, sorted. The watch fires when one comes or goes, or the node."""

    def tree(self, path: str) -> Later[Mapping[str, StoredNode] | StoreError]:
        """The node and all below it, by path. Not one moment's view where others write as well."""

    def multi(self, ops: Sequence[Op]) -> Later[Sequence[Result] | StoreError]:
        """All of it or nothing, in order; a `StoreError` tells why nothing was done."""

    def close(self) -> None:
        """End the session."""
