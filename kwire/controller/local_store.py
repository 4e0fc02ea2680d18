"""The metadata of one node without ZooKeeper: a tree in memory, kept by a journal and a snapshot.

    kwire-metadata-journal    one record for each multi since the last snapshot
    kwire-metadata-snapshot   the whole tree

Each multi is one record and one sync. A snapshot replaces the former one by a rename, and only then
the journal starts anew: after a crash in between, the journal's first transactions are older than
the snapshot and skipped. Both are plain files, since Kafka refuses log directories with unknown
directories in them. `local_format` has their contents.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kwire.controller.journal import DamagedMetadata, Journal
from kwire.controller.local_format import encode_snapshot, encode_transaction, read_snapshot, redo
from kwire.controller.store import (
    NO_OWNER,
    Delete,
    NoNode,
    Op,
    Result,
    SessionLost,
    SessionState,
    Stat,
    StoredNode,
    StoreError,
    StoreFailed,
    Watcher,
)
from kwire.controller.tree import Step
from kwire.controller.watches import Watches
from kwire.log.files import write_atomically
from kwire.tasks import Later, now

JOURNAL = "kwire-metadata-journal"
SNAPSHOT = "kwire-metadata-snapshot"
CLAIM = "meta.properties"
"""Written once the first transactions are on disk: see `LogStore.claim`."""
SNAPSHOT_AFTER_OPS = 10_000
SNAPSHOT_AFTER_BYTES = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


class LocalStore:
    def __init__(self, directory: Path, *, snapshot_after_ops: int = SNAPSHOT_AFTER_OPS) -> None:
        self._directory = directory
        self._snapshot_after_ops = snapshot_after_ops
        self._tree = read_snapshot(directory / SNAPSHOT)
        self._journal = Journal(directory / JOURNAL)
        self._nodes_at_snapshot = len(self._tree)
        self._ops_since_snapshot = 0
        self._bytes_at_snapshot = 0
        self._watches = Watches()
        self._listeners: list[Callable[[SessionState], None]] = []
        self.state = SessionState.CONNECTED
        self.session_id = NO_OWNER
        try:
            self._replay()
            self._end_former_sessions()
        except BaseException:
            self._journal.close()
            raise
        self.session_id = self._tree.zxid + 1

    def on_session(self, listener: Callable[[SessionState], None]) -> None:
        self._listeners.append(listener)

    def get(self, path: str, watcher: Watcher | None = None) -> Later[StoredNode | StoreError]:
        if self.state is SessionState.LOST:
            return now(_closed())
        node = self._tree.node(path)
        if node is None:
            return now(NoNode(f"no node at {path}"))
        self._watches.on_data(path, watcher)
        return now(node)

    def exists(self, path: str, watcher: Watcher | None = None) -> Later[Stat | StoreError | None]:
        if self.state is SessionState.LOST:
            return now(_closed())
        self._watches.on_data(path, watcher)
        node = self._tree.node(path)
        return now(None if node is None else node.stat)

    def children(self, path: str, watcher: Watcher | None = None) -> Later[list[str] | StoreError]:
        if self.state is SessionState.LOST:
            return now(_closed())
        if self._tree.node(path) is None:
            return now(NoNode(f"no node at {path}"))
        self._watches.on_children(path, watcher)
        return now(self._tree.children(path))

    def tree(self, path: str) -> Later[Mapping[str, StoredNode] | StoreError]:
        if self.state is SessionState.LOST:
            return now(_closed())
        if self._tree.node(path) is None:
            return now(NoNode(f"no node at {path}"))
        return now(self._tree.below(path))

    def multi(self, ops: Sequence[Op]) -> Later[Sequence[Result] | StoreError]:
        if self.state is SessionState.LOST:
            return now(_closed())
        try:
            steps, results = self._commit(ops)
        except StoreError as refused:
            return now(refused)
        self._maybe_write_snapshot()
        self._watches.fire(steps)
        return now(results)

    def close(self) -> None:
        if self.state is SessionState.LOST:
            return
        self._journal.close()
        self.state = SessionState.LOST
        for listener in self._listeners:
            listener(self.state)

    def _commit(self, ops: Sequence[Op]) -> tuple[list[Step], list[Result]]:
        steps, results = self._tree.apply(ops, self.session_id)
        if not steps:
            return steps, results
        try:
            self._journal.append(encode_transaction(self._tree.zxid, steps))
        except OSError as error:
            self._tree.undo(steps)
            _log.error("metadata not written file=%s: %s", self._directory / JOURNAL, error)
            raise StoreFailed(f"cannot write {JOURNAL}: {error}") from error
        self._ops_since_snapshot += len(steps)
        return steps, results

    def _end_former_sessions(self) -> None:
        """The sessions of former lives are over, and so are their ephemeral nodes."""
        nodes = self._tree.nodes().items()
        left = [Delete(path) for path, node in nodes if node.stat.owner != NO_OWNER]
        if left:
            self._commit(left)

    def _replay(self) -> None:
        self._check_that_something_is_left()
        for position, body in self._journal.read():
            record = json.loads(body)
            zxid: int = record["zxid"]
            if zxid <= self._tree.zxid:
                continue
            if zxid != self._tree.zxid + 1:
                raise DamagedMetadata(
                    f"{self._directory / JOURNAL} is damaged: transaction {self._tree.zxid + 1} is"
                    f" missing before byte {position}"
                )
            try:
                for op in record["ops"]:
                    self._ops_since_snapshot += redo(self._tree, zxid, *op)
            except (KeyError, IndexError, ValueError, TypeError) as error:
                raise DamagedMetadata(
                    f"{self._directory / JOURNAL}: the transaction at byte {position} cannot be"
                    f" carried out, perhaps a newer kwire wrote it: {error!r}"
                ) from error
            self._tree.zxid = zxid

    def _check_that_something_is_left(self) -> None:
        """A directory that was claimed has metadata: bytes that tell nothing were garbled."""
        is_claimed = (self._directory / CLAIM).exists()
        if is_claimed and not self._tree.zxid and self._journal.is_all_garbage():
            raise DamagedMetadata(
                f"{self._directory / JOURNAL} is damaged: it holds no transaction at all. Restore"
                " it from a backup, or move it away to start with the topics found on disk."
            )

    def _maybe_write_snapshot(self) -> None:
        """Keep replay short. The larger the tree, the less often it is written as a whole."""
        limit = max(self._snapshot_after_ops, self._nodes_at_snapshot)
        is_due = self._ops_since_snapshot >= limit
        is_large = self._journal.size_bytes - self._bytes_at_snapshot >= SNAPSHOT_AFTER_BYTES
        if not is_due and not is_large:
            return
        self._ops_since_snapshot = 0
        self._nodes_at_snapshot = len(self._tree)
        try:
            write_atomically(str(self._directory / SNAPSHOT), encode_snapshot(self._tree))
            self._journal.restart()
        except OSError as error:
            # Nothing is lost: the journal has it all, and is read beside an old snapshot.
            (self._directory / f"{SNAPSHOT}.tmp").unlink(missing_ok=True)
            _log.warning("snapshot not written path=%s: %s", self._directory / SNAPSHOT, error)
        self._bytes_at_snapshot = self._journal.size_bytes


def _closed() -> SessionLost:
    return SessionLost("the store is closed")
