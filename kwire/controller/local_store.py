"""The metadata of one node without ZooKeeper: a tree in memory, kept by a journal and a snapshot.

    kwire-metadata-snapshot   one record (see `journal`), whose body is
                              {"zxid", "version": 1, "sequences": {path: next},
                               "nodes": [[data, version, czxid, mzxid, owner, [path, ...]], ...]}
    kwire-metadata-journal    what happened since; ops are ["+", data, owner, [path, ...]] to create
                              nodes that are alike, ["#", data, owner, path] the same by sequence,
                              ["=", data, path] to set and ["-", path] to delete

Each multi is one record and one sync. A snapshot replaces the former one by a rename, and only then
the journal starts anew: after a crash in between, the journal's first transactions are older than
the snapshot and skipped. Both are plain files, since Kafka refuses log directories with unknown
directories in them. Data is text in JSON; bytes that are no UTF-8 survive as lone surrogates.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kwire.controller.journal import DamagedMetadata, Journal, frame, read_record
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
from kwire.controller.tree import Step, Tree
from kwire.controller.watches import Watches
from kwire.log.files import write_atomically
from kwire.tasks import Later, now

JOURNAL = "kwire-metadata-journal"
SNAPSHOT = "kwire-metadata-snapshot"
SNAPSHOT_VERSION = 1
SNAPSHOT_AFTER_OPS = 10_000
SNAPSHOT_AFTER_BYTES = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


class LocalStore:
    def __init__(self, directory: Path, *, snapshot_after_ops: int = SNAPSHOT_AFTER_OPS) -> None:
        self._directory = directory
        self._snapshot_after_ops = snapshot_after_ops
        self._tree = _read_snapshot(directory / SNAPSHOT)
        self._journal = Journal(directory / JOURNAL)
        self._ops_since_snapshot = 0
        self._bytes_at_snapshot = 0
        self._watches = Watches()
        self._listeners: list[Callable[[SessionState], None]] = []
        self.state = SessionState.CONNECTED
        self.session_id = NO_OWNER
        try:
            self._replay()
            self.is_new = self._tree.zxid == 0
            """Whether nothing was ever stored here before."""
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
            self._journal.append(_encode(self._tree.zxid, steps))
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
                    self._ops_since_snapshot += _redo(self._tree, zxid, *op)
            except (KeyError, IndexError, ValueError, TypeError) as error:
                raise DamagedMetadata(
                    f"{self._directory / JOURNAL}: the transaction at byte {position} cannot be"
                    f" carried out, perhaps a newer kwire wrote it: {error!r}"
                ) from error
            self._tree.zxid = zxid

    def _maybe_write_snapshot(self) -> None:
        """Keep replay short. A tree that grows is written whole ever less often."""
        is_due = self._ops_since_snapshot >= max(self._snapshot_after_ops, len(self._tree))
        is_large = self._journal.size_bytes - self._bytes_at_snapshot >= SNAPSHOT_AFTER_BYTES
        if not is_due and not is_large:
            return
        self._ops_since_snapshot = 0
        try:
            write_atomically(str(self._directory / SNAPSHOT), frame(_encode_snapshot(self._tree)))
            self._journal.restart()
        except OSError as error:
            # Nothing is lost: the journal has it all, and is read beside an old snapshot.
            _log.warning("snapshot not written path=%s: %s", self._directory / SNAPSHOT, error)
        self._bytes_at_snapshot = self._journal.size_bytes


def _closed() -> SessionLost:
    return SessionLost("the store is closed")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encode(zxid: int, steps: Sequence[Step]) -> bytes:
    ops: list[list[object]] = []
    created: dict[tuple[bytes, int], list[str]] = {}
    for step in steps:
        path, before, after, was_sequential = step
        if before is None and after is not None and not was_sequential:
            alike = created.get((after.data, after.stat.owner))
            if alike is None:
                alike = created[after.data, after.stat.owner] = []
                ops.append(["+", _text(after.data), after.stat.owner, alike])
            alike.append(path)
        else:
            # Another kind of operation may be about one of these nodes: their order matters.
            created = {}
            ops.append(_encode_step(step))
    return _dump({"zxid": zxid, "ops": ops})


def _encode_step(step: Step) -> list[object]:
    path, before, after, _ = step
    if after is None:
        return ["-", path]
    if before is not None:
        return ["=", _text(after.data), path]
    return ["#", _text(after.data), after.stat.owner, path]


def _redo(tree: Tree, zxid: int, kind: str, *rest: Any) -> int:
    """Do again what the journal says was done; returns to how many nodes."""
    if kind == "+":
        text, owner, paths = rest
        tree.restore(StoredNode(_bytes(text), Stat(0, zxid, zxid, owner)), paths)
        return len(paths)
    path = rest[-1]
    before = tree.node(path)
    if kind == "#":
        text, owner, _ = rest
        node = StoredNode(_bytes(text), Stat(0, zxid, zxid, owner))
        tree.take(Step(path, None, node, was_sequential=True))
    elif before is None:
        raise KeyError(path)
    elif kind == "-":
        tree.take(Step(path, before, None))
    elif kind == "=":
        version, czxid, _, owner = before.stat
        node = StoredNode(_bytes(rest[0]), Stat(version + 1, czxid, zxid, owner))
        tree.take(Step(path, before, node))
    else:
        raise ValueError(f"unknown operation {kind!r}")
    return 1


def _encode_snapshot(tree: Tree) -> bytes:
    # On one node most partitions are alike: what they share is written, and read, once.
    alike: dict[StoredNode, list[str]] = {}
    for path, node in tree.nodes().items():
        alike.setdefault(node, []).append(path)
    return _dump(
        {
            "zxid": tree.zxid,
            "version": SNAPSHOT_VERSION,
            "sequences": tree.sequences,
            "nodes": [(_text(node.data), *node.stat, paths) for node, paths in alike.items()],
        }
    )


def _read_snapshot(path: Path) -> Tree:
    tree = Tree()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return tree
    body = read_record(data, 0)
    if body is None:
        raise DamagedMetadata(f"{path} is damaged: no sound record at byte 0")
    snapshot = json.loads(body)
    if snapshot["version"] != SNAPSHOT_VERSION:
        raise DamagedMetadata(f"{path} has version {snapshot['version']}: a newer kwire wrote it")
    tree.zxid = snapshot["zxid"]
    tree.sequences = snapshot["sequences"]
    for text, version, czxid, mzxid, owner, paths in snapshot["nodes"]:
        tree.restore(StoredNode(_bytes(text), Stat(version, czxid, mzxid, owner)), paths)
    return tree
