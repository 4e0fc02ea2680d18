"""What every metadata store does: the same tests for each implementation.

A store takes part by an entry in `STORES`: a function of a directory that opens a new session on
the tree kept there, and one that waits for an answer.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwire.controller.local_store import LocalStore
from kwire.controller.store import (
    ANY_VERSION,
    BadVersion,
    Check,
    Create,
    Delete,
    EphemeralParent,
    Event,
    EventKind,
    MetadataStore,
    NodeExists,
    NoNode,
    NotEmpty,
    Op,
    Put,
    SessionLost,
    SessionState,
    Stat,
    StoredNode,
    StoreError,
)
from kwire.tests.controller.clusters import value_of


class Implementation(NamedTuple):
    open: Callable[[Path], MetadataStore]
    wait: Callable[[Any], Any]


STORES = {"local": Implementation(LocalStore, value_of)}


class Session:
    """One session on a store, with the waiting taken out of every call."""

    def __init__(self, implementation: Implementation, directory: Path) -> None:
        self._implementation = implementation
        self._directory = directory
        self.store = implementation.open(directory)

    def reopen(self) -> None:
        self.store.close()
        self.store = self._implementation.open(self._directory)

    def multi(self, *ops: Op) -> Any:
        return self._implementation.wait(self.store.multi(ops))

    def get(self, path: str, watcher: Callable[[Event], None] | None = None) -> Any:
        return self._implementation.wait(self.store.get(path, watcher))

    def exists(self, path: str, watcher: Callable[[Event], None] | None = None) -> Any:
        return self._implementation.wait(self.store.exists(path, watcher))

    def children(self, path: str, watcher: Callable[[Event], None] | None = None) -> Any:
        return self._implementation.wait(self.store.children(path, watcher))

    def tree(self, path: str) -> Any:
        return self._implementation.wait(self.store.tree(path))


@pytest.fixture(params=sorted(STORES))
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    opened = Session(STORES[request.param], tmp_path)
    yield opened
    opened.store.close()


def test_a_new_tree_has_only_its_root(session: Session) -> None:
    assert session.store.state is SessionState.CONNECTED
    assert list(session.tree("/")) == ["/"]
    assert session.children("/") == []


def test_a_created_node_holds_its_data_at_version_0(session: Session) -> None:
    assert session.multi(Create("/a", b"one")) == ["/a"]
    found = session.get("/a")
    assert isinstance(found, StoredNode)
    assert found.data == b"one"
    assert found.stat.version == 0
    assert found.stat.czxid == found.stat.mzxid
    assert found.stat.owner == 0


def test_data_may_be_any_bytes(session: Session) -> None:
    session.multi(Create("/a", bytes(range(256))))
    session.reopen()
    assert session.get("/a").data == bytes(range(256))


def test_a_node_needs_its_parent(session: Session) -> None:
    assert isinstance(session.multi(Create("/a/b")), NoNode)
    session.multi(Create("/a"), Create("/a/b"))
    assert session.children("/a") == ["b"]


def test_a_node_is_not_created_twice(session: Session) -> None:
    session.multi(Create("/a", b"one"))
    assert isinstance(session.multi(Create("/a", b"two")), NodeExists)
    assert session.get("/a").data == b"one"


def test_a_put_raises_the_version_and_the_zxid_of_the_change(session: Session) -> None:
    session.multi(Create("/a", b"one"))
    before = session.get("/a").stat
    (after,) = session.multi(Put("/a", b"two", version=0))
    assert isinstance(after, Stat)
    assert after.version == 1
    assert after.czxid == before.czxid
    assert after.mzxid > before.mzxid
    assert session.get("/a") == StoredNode(b"two", after)


def test_zxids_grow_from_one_multi_to_the_next(session: Session) -> None:
    session.multi(Create("/a"), Create("/b"))
    session.multi(Create("/c"))
    czxids = [session.exists(path).czxid for path in ("/a", "/b", "/c")]
    assert czxids[0] == czxids[1] < czxids[2]


@pytest.mark.parametrize("op", [Put("/a", b"x", version=1), Delete("/a", 1), Check("/a", 1)])
def test_another_version_than_expected_is_refused(session: Session, op: Op) -> None:
    session.multi(Create("/a", b"one"))
    assert isinstance(session.multi(op), BadVersion)
    assert session.get("/a").data == b"one"


@pytest.mark.parametrize("op", [Put("/a", b"x"), Delete("/a"), Check("/a", 0)])
def test_there_must_be_a_node(session: Session, op: Op) -> None:
    assert isinstance(session.multi(op), NoNode)


def test_any_version_will_do_if_none_is_named(session: Session) -> None:
    session.multi(Create("/a"), Put("/a", b"two"), Put("/a", b"three", ANY_VERSION))
    assert session.get("/a").stat.version == 2
    assert session.multi(Delete("/a")) == [None]
    assert session.exists("/a") is None


def test_a_node_with_children_is_not_deleted(session: Session) -> None:
    session.multi(Create("/a"), Create("/a/b"))
    assert isinstance(session.multi(Delete("/a")), NotEmpty)
    assert session.multi(Delete("/a/b"), Delete("/a")) == [None, None]
    assert session.children("/") == []


@pytest.mark.parametrize(
    "refused", [Create("/a"), Put("/none", b""), Delete("/none"), Check("/a", 7), Delete("/p")]
)
def test_a_multi_is_carried_out_as_a_whole_or_not_at_all(session: Session, refused: Op) -> None:
    session.multi(Create("/a", b"a"), Create("/gone", b"g"), Create("/p"), Create("/p/child"))
    before = session.tree("/")
    outcome = session.multi(
        Create("/b"), Create("/b/c"), Put("/a", b"changed"), Delete("/gone"), refused
    )
    assert isinstance(outcome, StoreError)
    assert session.tree("/") == before
    assert session.children("/") == ["a", "gone", "p"]
    session.reopen()
    assert session.tree("/") == before


def test_operations_of_a_multi_see_those_before_them(session: Session) -> None:
    results = session.multi(
        Create("/a"), Put("/a", b"two", version=0), Check("/a", 1), Delete("/a", 1), Create("/a")
    )
    assert [type(result) for result in results] == [str, Stat, type(None), type(None), str]
    assert session.get("/a").stat.version == 0


def test_a_multi_that_only_checks_changes_nothing(session: Session) -> None:
    session.multi(Create("/a"))
    assert session.multi(Check("/a", 0)) == [None]
    session.multi(Create("/b"))
    session.reopen()
    assert session.children("/") == ["a", "b"]


def test_sequential_nodes_are_numbered_and_no_number_comes_twice(session: Session) -> None:
    session.multi(Create("/q"))
    first = session.multi(Create("/q/n-", sequential=True), Create("/q/n-", sequential=True))
    assert first == ["/q/n-0000000000", "/q/n-0000000001"]
    session.multi(Delete("/q/n-0000000001"))
    session.reopen()
    assert session.multi(Create("/q/n-", sequential=True)) == ["/q/n-0000000002"]


def test_ephemeral_nodes_belong_to_the_session_and_go_with_it(session: Session) -> None:
    session.multi(Create("/kept"), Create("/e", b"mine", ephemeral=True))
    assert session.get("/e").stat.owner == session.store.session_id
    former = session.store.session_id
    session.reopen()
    assert session.store.session_id != former
    assert session.children("/") == ["kept"]
    session.multi(Create("/e", ephemeral=True))
    assert session.get("/e").stat.owner == session.store.session_id


def test_an_ephemeral_node_has_no_children(session: Session) -> None:
    session.multi(Create("/e", ephemeral=True))
    assert isinstance(session.multi(Create("/e/child")), EphemeralParent)


def test_the_tree_survives_its_session(session: Session) -> None:
    session.multi(Create("/a", b"1"), Create("/a/b", b"2"))
    session.multi(Put("/a", b"3"))
    session.multi(Create("/gone"), Delete("/gone"))
    before = session.tree("/")
    session.reopen()
    assert session.tree("/") == before


def test_a_part_of_the_tree_can_be_read_at_once(session: Session) -> None:
    session.multi(Create("/a"), Create("/a/b", b"x"), Create("/a/b/c"), Create("/ab"))
    assert set(session.tree("/a")) == {"/a", "/a/b", "/a/b/c"}
    assert session.tree("/a")["/a/b"].data == b"x"
    assert isinstance(session.tree("/none"), NoNode)


def test_children_are_sorted_names(session: Session) -> None:
    session.multi(Create("/b"), Create("/a"), Create("/c"), Create("/a/x"))
    assert session.children("/") == ["a", "b", "c"]
    assert isinstance(session.children("/none"), NoNode)


def test_a_data_watch_fires_once_for_a_change(session: Session) -> None:
    seen: list[Event] = []
    session.multi(Create("/a"))
    session.get("/a", seen.append)
    session.multi(Put("/a", b"1"))
    session.multi(Put("/a", b"2"))
    assert seen == [Event(EventKind.CHANGED, "/a")]


def test_a_data_watch_fires_for_a_deletion(session: Session) -> None:
    seen: list[Event] = []
    session.multi(Create("/a"))
    session.get("/a", seen.append)
    session.multi(Delete("/a"))
    assert seen == [Event(EventKind.DELETED, "/a")]


def test_only_exists_watches_a_node_that_is_not_there(session: Session) -> None:
    seen: list[str] = []
    session.get("/a", lambda event: seen.append("get"))
    session.exists("/a", lambda event: seen.append(event.kind.value))
    session.multi(Create("/a"))
    assert seen == ["created"]


def test_a_child_watch_fires_for_children_but_not_for_data(session: Session) -> None:
    seen: list[Event] = []
    session.multi(Create("/a"), Create("/a/b"))
    session.children("/a", seen.append)
    session.multi(Put("/a", b"1"), Put("/a/b", b"1"), Create("/a/b/c"))
    assert seen == []
    session.multi(Create("/a/d"), Create("/a/e"))
    assert seen == [Event(EventKind.CHILDREN, "/a")]


def test_a_child_watch_fires_when_its_own_node_goes(session: Session) -> None:
    seen: list[Event] = []
    session.multi(Create("/a"))
    session.children("/a", seen.append)
    session.multi(Delete("/a"))
    assert seen == [Event(EventKind.DELETED, "/a")]


def test_a_watcher_may_look_and_watch_again(session: Session) -> None:
    seen: list[bytes] = []

    def look(event: Event) -> None:
        session.store.get("/a", look).then(
            lambda found: seen.append(found.data if isinstance(found, StoredNode) else b"?")
        )

    session.multi(Create("/a"))
    session.get("/a", look)
    session.multi(Put("/a", b"1"))
    session.multi(Put("/a", b"2"))
    assert seen == [b"1", b"2"]


def test_a_refused_multi_fires_no_watch(session: Session) -> None:
    seen: list[Event] = []
    session.multi(Create("/a"))
    session.get("/a", seen.append)
    session.multi(Put("/a", b"1"), Check("/a", 9))
    assert seen == []


def test_a_closed_session_is_lost_and_answers_so(session: Session) -> None:
    states: list[SessionState] = []
    session.store.on_session(states.append)
    session.store.close()
    assert states == [session.store.state] == [SessionState.LOST]
    assert isinstance(session.multi(Create("/a")), SessionLost)
    for ask in (session.get, session.exists, session.children, session.tree):
        assert isinstance(ask("/"), SessionLost)
