"""Waiting without tasks: an answer that comes later, timers, and the pool for what blocks.

The data path creates no coroutine and no thread hand-off. A handler that cannot answer yet returns
a `Later`; whoever learns the answer calls `complete`. The connection keeps its place in order.
"""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar, cast

T = TypeVar("T")
U = TypeVar("U")


class Later(Generic[T]):
    """An answer that is not known yet. Completed once; everything happens in the loop's thread."""

    __slots__ = ("_abandon", "_callback", "_failed", "done", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: T | None = None
        self._callback: Callable[[T], None] | None = None
        self._failed: Callable[[Exception], None] | None = None
        self._abandon: Callable[[], None] | None = None

    def complete(self, value: T) -> None:
        if self.done:
            return
        self.done = True
        self.value = value
        self._abandon = None
        if self._callback is not None:
            self._callback(value)

    def fail(self, error: Exception) -> None:
        """A bug of ours makes the answer impossible: whoever waits for it is told.

        If nobody listens for that, whoever brought the answer hears of it.
        """
        if self.done:
            return
        if self._failed is None:
            raise error
        self.done = True
        self._abandon = None
        self._failed(error)

    def then(
        self,
        callback: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Call back with the answer: at once if it is known, when it comes otherwise."""
        if self.done:
            callback(self.value)  # type: ignore[arg-type]  # done means that value is set
        else:
            self._callback = callback
            self._failed = failed

    def map(self, change: Callable[[T], U]) -> "Later[U]":
        """The answer made of this one; whoever abandons it abandons this one too.

        A `change` that raises is the caller's matter if the answer is known already. Otherwise it
        concerns whoever waits for what was to be made of it, and not whoever brings the answer.
        """
        changed: Later[U] = Later()
        if self.done:
            changed.complete(change(cast(T, self.value)))
            return changed

        def known(value: T) -> None:
            try:
                made = change(value)
            except Exception as error:
                changed.fail(error)
            else:
                changed.complete(made)

        changed.on_abandon(self.abandon)
        self.then(known, changed.fail)
        return changed

    def on_abandon(self, callback: Callable[[], None]) -> None:
        """What to undo when the asker goes away before the answer is there."""
        self._abandon = callback

    def abandon(self) -> None:
        if self.done:
            return
        self.done = True
        self._callback = self._failed = None
        if self._abandon is not None:
            self._abandon()
            self._abandon = None


def now(value: T) -> Later[T]:
    """An answer that is known already, where one may have to wait for it elsewhere."""
    known: Later[T] = Later()
    known.complete(value)
    return known


def all_of(laters: Sequence[Later[T]]) -> Later[list[T]]:
    """All answers in order, when the last of them is there."""
    together: Later[list[T]] = Later()
    missing = len(laters)

    def count(_: T) -> None:
        nonlocal missing
        missing -= 1
        if missing == 0:
            together.complete([cast(T, later.value) for later in laters])

    if not laters:
        together.complete([])
    for later in laters:
        later.then(count, together.fail)
    return together


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """What the rooms need of the event loop."""

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        """Run `callback` in the loop after `delay_s` seconds."""

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Run `callback` once the events of this turn were handled."""

    def in_pool(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        """Run blocking `work` in a thread, then `done` with its value or exception in the loop."""
