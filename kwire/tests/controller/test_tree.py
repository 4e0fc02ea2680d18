"""The tree in memory, through random multis: whatever is refused or undone leaves no trace."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from kwire.controller.store import Check, Create, Delete, Op, Put, StoreError
from kwire.controller.tree import Tree

PATHS = st.sampled_from(["/a", "/b", "/a/c", "/a/d", "/a/c/e"])
VERSIONS = st.integers(-1, 2)
OPS = st.one_of(
    st.builds(Create, PATHS, st.binary(max_size=2), st.booleans(), st.booleans()),
    st.builds(Put, PATHS, st.binary(max_size=2), VERSIONS),
    st.builds(Delete, PATHS, VERSIONS),
    st.builds(Check, PATHS, VERSIONS),
)


def _view(tree: Tree) -> object:
    nodes = dict(tree.nodes())
    children = {path: tree.children(path) for path in nodes}
    used = {path: count for path, count in tree.sequences.items() if count}
    return copy.deepcopy((tree.zxid, nodes, children, used))


@given(st.lists(st.lists(OPS, max_size=4), max_size=12))
def test_a_multi_that_is_refused_leaves_no_trace(multis: list[list[Op]]) -> None:
    tree = Tree()
    for ops in multis:
        before = _view(tree)
        try:
            tree.apply(ops, session_id=7)
        except StoreError:
            assert _view(tree) == before


@given(st.lists(st.lists(OPS, max_size=4), max_size=12))
def test_a_multi_that_is_undone_leaves_no_trace(multis: list[list[Op]]) -> None:
    tree = Tree()
    for ops in multis:
        before = _view(tree)
        try:
            steps, _ = tree.apply(ops, session_id=7)
        except StoreError:
            continue
        if steps:
            tree.undo(steps)
            assert _view(tree) == before
        tree.apply(ops, session_id=7)


@given(st.lists(st.lists(OPS, max_size=4), max_size=12))
def test_every_node_has_a_parent_that_lists_it(multis: list[list[Op]]) -> None:
    tree = Tree()
    for ops in multis:
        try:
            tree.apply(ops, session_id=7)
        except StoreError:
            continue
    listed = {f"{path.rstrip('/')}/{name}" for path in tree.nodes() for name in tree.children(path)}
    assert listed == set(tree.nodes()) - {"/"}


def test_a_part_of_the_tree_is_everything_below_a_node() -> None:
    tree = Tree()
    tree.apply([Create("/a"), Create("/a/b"), Create("/a/b/c"), Create("/ab")], 1)
    assert list(tree.below("/a")) == ["/a", "/a/b", "/a/b/c"]
