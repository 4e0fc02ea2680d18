"""Who is to be told, once, that a node or its children changed."""

from collections.abc import Sequence

from kwire.controller.store import Event, EventKind, Watcher
from kwire.controller.tree import Step, split

_Watchers = dict[str, dict[Watcher, None]]


class Watches:
    def __init__(self) -> None:
        self._data: _Watchers = {}
        self._children: _Watchers = {}

    def on_data(self, path: str, watcher: Watcher | None) -> None:
        if watcher is not None:
            self._data.setdefault(path, {})[watcher] = None

    def on_children(self, path: str, watcher: Watcher | None) -> None:
        if watcher is not None:
            self._children.setdefault(path, {})[watcher] = None

    def fire(self, steps: Sequence[Step]) -> None:
        """Tell everybody what a transaction did, in its order, after all of it was done."""
        if not self._data and not self._children:
            return
        for path, before, after, _ in steps:
            if before is not None and after is not None:
                _tell(self._data, Event(EventKind.CHANGED, path))
                continue
            kind = EventKind.CREATED if before is None else EventKind.DELETED
            _tell(self._data, Event(kind, path))
            if after is None:
                _tell(self._children, Event(kind, path))
            _tell(self._children, Event(EventKind.CHILDREN, split(path)[0]))


def _tell(watchers: _Watchers, event: Event) -> None:
    for watcher in watchers.pop(event.path, {}):
        watcher(event)
