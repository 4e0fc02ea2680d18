"""The tree of a local store in memory: what each operation does to it, and how to take it back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kwire.controller.store import (
    ANY_VERSION,
    NO_OWNER,
    BadVersion,
    Check,
    Create,
    Delete,
    EphemeralParent,
    NodeExists,
    NoNode,
    NotEmpty,
    Op,
    Result,
    Stat,
    StoredNode,
    StoreError,
)

ROOT = "/"


class Step(NamedTuple):
    """One node before and after an operation; `was_sequential` moves the parent's counter."""

    path: str
    before: StoredNode | None
    after: StoredNode | None
    was_sequential: bool = False


class Tree:
    def __init__(self) -> None:
        self.zxid = 0
        self.sequences: dict[str, int] = {}
        """The next number below each node that had sequential children. They outlive the node, so
        that no number is ever given twice."""
        self._nodes: dict[str, StoredNode] = {ROOT: StoredNode(b"", Stat(0, 0, 0))}
        self._names_below: dict[str, dict[str, None]] | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, path: str) -> StoredNode | None:
        return self._nodes.get(path)

    def nodes(self) -> Mapping[str, StoredNode]:
        return self._nodes

    def children(self, path: str) -> list[str]:
        return sorted(self._children().get(path, ()))

    def below(self, path: str) -> dict[str, StoredNode]:
        """The node and everything below it."""
        if path == ROOT:
            return dict(self._nodes)
        found = {path: self._nodes[path]}
        for name in self._children().get(path, ()):
            found.update(self.below(f"{path}/{name}"))
        return found

    def apply(self, ops: Sequence[Op], session_id: int) -> tuple[list[Step], list[Result]]:
        """Do all of it as the next transaction; raises StoreError, and leaves nothing, if it cannot
        be done as a whole."""
        steps: list[Step] = []
        results: list[Result] = []
        zxid = self.zxid + 1
        try:
            for op in ops:
                step, result = self._decide(op, zxid, session_id)
                results.append(result)
                if step is not None:
                    self.take(step)
                    steps.append(step)
        except StoreError:
            self._take_back(steps)
            raise
        if steps:
            self.zxid = zxid
        return steps, results

    def undo(self, steps: Sequence[Step]) -> None:
        """Take back the transaction that was applied last."""
        self._take_back(steps)
        self.zxid -= 1

    def take(self, step: Step) -> None:
        """Bring one node to what it is after a step."""
        path = step.path
        parent, name = split(path)
        below = self._names_below
        if step.after is None:
            del self._nodes[path]
            if below is not None:
                del below[parent][name]
                below.pop(path, None)
            return
        self._nodes[path] = step.after
        if step.before is None:
            if below is not None:
                below.setdefault(parent, {})[name] = None
            if step.was_sequential:
                self.sequences[parent] = int(name[-10:]) + 1

    def restore(self, node: StoredNode, paths: Iterable[str]) -> None:
        """Put the same node at many new places; for reading files, before anybody looks."""
        assert self._names_below is None
        self._nodes.update(dict.fromkeys(paths, node))

    def _children(self) -> dict[str, dict[str, None]]:
        """The names below each node; found when first asked for, since a start needs none."""
        if self._names_below is None:
            self._names_below = {}
            for path in self._nodes:
                if path != ROOT:
                    parent, name = split(path)
                    self._names_below.setdefault(parent, {})[name] = None
        return self._names_below

    def _take_back(self, steps: Sequence[Step]) -> None:
        for path, before, after, was_sequential in reversed(steps):
            self.take(Step(path, after, before))
            if was_sequential:
                self.sequences[split(path)[0]] -= 1

    def _decide(self, op: Op, zxid: int, session_id: int) -> tuple[Step | None, Result]:
        if isinstance(op, Create):
            return self._decide_create(op, zxid, session_id)
        node = self._nodes.get(op.path)
        if node is None:
            raise NoNode(f"no node at {op.path}")
        if op.version not in (ANY_VERSION, node.stat.version):
            raise BadVersion(f"{op.path} has version {node.stat.version}, not {op.version}")
        if isinstance(op, Check):
            return None, None
        if isinstance(op, Delete):
            if self._children().get(op.path):
                raise NotEmpty(f"{op.path} has children")
            return Step(op.path, node, None), None
        _, czxid, _, owner = node.stat
        stat = Stat(node.stat.version + 1, czxid, zxid, owner)
        return Step(op.path, node, StoredNode(op.data, stat)), stat

    def _decide_create(self, op: Create, zxid: int, session_id: int) -> tuple[Step, Result]:
        parent, _ = split(op.path)
        above = self._nodes.get(parent)
        if above is None:
            raise NoNode(f"no node at {parent}, the parent of {op.path}")
        if above.stat.owner != NO_OWNER:
            raise EphemeralParent(f"{parent} is ephemeral and has no children")
        path = f"{op.path}{self.sequences.get(parent, 0):010d}" if op.sequential else op.path
        if path in self._nodes:
            raise NodeExists(f"there is a node at {path} already")
        owner = session_id if op.ephemeral else NO_OWNER
        node = StoredNode(op.data, Stat(0, zxid, zxid, owner))
        return Step(path, None, node, op.sequential), path


def split(path: str) -> tuple[str, str]:
    """The parent's path and the name."""
    parent, _, name = path.rpartition("/")
    return parent or ROOT, name
