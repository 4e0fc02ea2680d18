"""The bytes of the metadata files: today's readers must read yesterday's files."""

from pathlib import Path

import pytest

from kwire.controller.journal import DamagedMetadata, frame
from kwire.controller.local_format import encode_snapshot, encode_transaction, read_snapshot, redo
from kwire.controller.store import Create, Delete, Put, Stat, StoredNode
from kwire.controller.tree import Tree

A_SNAPSHOT = (
    b'{"zxid":7,"version":1,"sequences":{"/a":3},'
    b'"nodes":[["",0,0,0,0,["/"]],["x",2,1,5,0,["/a","/b"]]]}'
)


def test_a_transaction_is_written_compactly() -> None:
    tree = Tree()
    tree.apply([Create("/old", b"o")], 9)
    steps, _ = tree.apply(
        [
            Create("/a", b"x"),
            Create("/e", b"x", ephemeral=True),
            Create("/b", b"x"),
            Put("/old", b"\xff"),
            Create("/a/n-", sequential=True),
            Delete("/b"),
        ],
        9,
    )
    assert encode_transaction(2, steps) == (
        b'{"zxid":2,"ops":[["+","x",0,["/a","/b"]],["+","x",9,["/e"]],'
        b'["=","\\udcff","/old"],["#","",0,"/a/n-0000000000"],["-","/b"]]}'
    )


def test_a_transaction_is_done_again_as_it_was() -> None:
    tree = Tree()
    tree.restore(StoredNode(b"o", Stat(4, 1, 1)), ["/old"])
    assert redo(tree, 9, "+", "x", 0, ["/a", "/b"]) == 2
    redo(tree, 9, "=", "\udcff", "/old")
    redo(tree, 9, "#", "", 5, "/a/n-0000000006")
    redo(tree, 9, "-", "/b")
    assert tree.node("/a") == StoredNode(b"x", Stat(0, 9, 9))
    assert tree.node("/b") is None
    assert tree.node("/old") == StoredNode(b"\xff", Stat(5, 1, 9))
    assert tree.node("/a/n-0000000006") == StoredNode(b"", Stat(0, 9, 9, owner=5))
    assert tree.sequences == {"/a": 7}


def test_creating_what_was_just_deleted_keeps_its_order() -> None:
    tree = Tree()
    tree.apply([Create("/a", b"1")], 9)
    steps, _ = tree.apply([Create("/b", b"2"), Delete("/a"), Create("/a", b"2")], 9)
    again = Tree()
    again.restore(StoredNode(b"1", Stat(0, 1, 1)), ["/a"])
    assert encode_transaction(2, steps) == (
        b'{"zxid":2,"ops":[["+","2",0,["/b"]],["-","/a"],["+","2",0,["/a"]]]}'
    )


def test_a_snapshot_is_read(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    path.write_bytes(frame(A_SNAPSHOT))
    tree = read_snapshot(path)
    assert tree.zxid == 7
    assert tree.sequences == {"/a": 3}
    assert tree.node("/b") == StoredNode(b"x", Stat(2, 1, 5))
    assert tree.children("/") == ["a", "b"]
    assert encode_snapshot(tree) == frame(A_SNAPSHOT)


def test_without_a_snapshot_the_tree_is_empty(tmp_path: Path) -> None:
    tree = read_snapshot(tmp_path / "none")
    assert (tree.zxid, list(tree.nodes())) == (0, ["/"])


def test_a_snapshot_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    path.write_bytes(frame(A_SNAPSHOT.replace(b'"version":1', b'"version":2')))
    with pytest.raises(DamagedMetadata, match="has version 2: a newer kwire wrote it"):
        read_snapshot(path)
