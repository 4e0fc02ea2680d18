"""How a local store writes its tree down: transactions for the journal, and whole snapshots.

    kwire-metadata-journal    {"zxid", "ops": [...]} for each transaction; ops are
                              ["+", data, owner, [path, ...]] to create nodes that are alike,
                              ["#", data, owner, path] the same by sequence,
                              ["=", data, path] to set and ["-", path] to delete
    kwire-metadata-snapshot   {"zxid", "version": 1, "sequences": {path: next},
                               "nodes": [[data, version, czxid, mzxid, owner, [path, ...]], ...]}

Both are JSON in records of `journal`. Data is text; bytes that are no UTF-8 survive as lone
surrogates. On one node most partitions are alike, so that what they share is written once.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kwire.controller.journal import DamagedMetadata, frame, read_record
from kwire.controller.store import Stat, StoredNode
from kwire.controller.tree import Step, Tree

SNAPSHOT_VERSION = 1


def encode_transaction(zxid: int, steps: Sequence[Step]) -> bytes:
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


def redo(tree: Tree, zxid: int, kind: str, *rest: Any) -> int:
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


def encode_snapshot(tree: Tree) -> bytes:
    """The whole file."""
    alike: dict[StoredNode, list[str]] = {}
    for path, node in tree.nodes().items():
        alike.setdefault(node, []).append(path)
    body = _dump(
        {
            "zxid": tree.zxid,
            "version": SNAPSHOT_VERSION,
            "sequences": tree.sequences,
            "nodes": [(_text(node.data), *node.stat, paths) for node, paths in alike.items()],
        }
    )
    return frame(body)


def read_snapshot(path: Path) -> Tree:
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


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
