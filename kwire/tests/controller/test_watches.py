"""Watches: who is told, of what, and how often."""

from kwire.controller.store import Event, EventKind, Stat, StoredNode
from kwire.controller.tree import Step
from kwire.controller.watches import Watches

A_NODE = StoredNode(b"", Stat(0, 1, 1))


def test_a_watcher_that_watches_twice_is_told_once() -> None:
    watches = Watches()
    seen: list[Event] = []
    watcher = seen.append
    watches.on_data("/a", watcher)
    watches.on_data("/a", watcher)
    watches.fire([Step("/a", A_NODE, A_NODE)])
    assert seen == [Event(EventKind.CHANGED, "/a")]


def test_what_nobody_asked_for_is_told_to_nobody() -> None:
    watches = Watches()
    seen: list[Event] = []
    watches.on_data("/a", None)
    watches.on_children("/a", None)
    watches.on_data("/b", seen.append)
    watches.fire([Step("/a", A_NODE, A_NODE), Step("/a/c", None, A_NODE)])
    assert seen == []


def test_steps_are_told_in_their_order() -> None:
    watches = Watches()
    seen: list[Event] = []
    watches.on_data("/a", seen.append)
    watches.on_data("/b", seen.append)
    watches.on_children("/", seen.append)
    watches.fire([Step("/b", A_NODE, A_NODE), Step("/a", A_NODE, None)])
    assert seen == [
        Event(EventKind.CHANGED, "/b"),
        Event(EventKind.DELETED, "/a"),
        Event(EventKind.CHILDREN, "/"),
    ]
