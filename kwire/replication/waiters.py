"""Fetches that wait for bytes. Woken by the append itself, at the end of the same loop turn."""

from collections.abc import Callable, Iterable
from typing import Protocol

from kwire.tasks import Scheduler, Timer


class Watched(Protocol):
    """A partition, as far as a waiting fetch knows it."""

    def watch(self, waiting: "WaitingFetch") -> None: ...

    def unwatch(self, waiting: "WaitingFetch") -> None: ...


class WaitingFetch:
    """Waits until enough bytes were appended, something changed, or its time is over.

    `ready` is called exactly once, never from inside `grew`: several appends of one turn are
    answered together, after the producers' own answers went out.
    """

    __slots__ = (
        "_is_cancelled",
        "_is_over",
        "_missing_bytes",
        "_partitions",
        "_ready",
        "_scheduler",
        "_timer",
    )

    def __init__(
        self,
        partitions: Iterable[Watched],
        *,
        missing_bytes: int,
        wait_s: float,
        scheduler: Scheduler,
        ready: Callable[[], None],
    ) -> None:
        self._partitions = list(partitions)
        self._missing_bytes = missing_bytes
        self._scheduler = scheduler
        self._ready = ready
        self._is_over = False
        self._is_cancelled = False
        self._timer: Timer = scheduler.call_later(wait_s, self._time_out)
        for partition in self._partitions:
            partition.watch(self)

    def grew(self, size_bytes: int) -> None:
        self._missing_bytes -= size_bytes
        if self._missing_bytes <= 0:
            self.changed()

    def changed(self) -> None:
        """Leadership, log start or existence of a partition changed: the answer cannot wait."""
        if not self._is_over:
            self._let_go()
            self._scheduler.call_soon(self._call)

    def cancel(self) -> None:
        """Nobody wants the answer any more."""
        self._is_cancelled = True
        self._let_go()

    def _let_go(self) -> None:
        self._is_over = True
        self._timer.cancel()
        for partition in self._partitions:
            partition.unwatch(self)

    def _time_out(self) -> None:
        if not self._is_over:
            self._let_go()
            self._call()

    def _call(self) -> None:
        if not self._is_cancelled:
            self._ready()
