"""Timers by name, which are mostly moved and rarely ring.

A heartbeat moves a session's timer every few seconds. Moving one to a later time only notes that
time: when the old one rings it is too early, and goes on waiting for the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kwire.clock import Clock
from kwire.coordinator.decision import TimerKey
from kwire.tasks import Scheduler, Timer


@dataclass(slots=True)
class _Entry:
    due_s: float
    rings_s: float
    """When the scheduler's timer ends, which may be before it is due."""
    callback: Callable[[], None]
    timer: Timer


class Timers:
    def __init__(self, scheduler: Scheduler, clock: Clock) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._entries: dict[TimerKey, _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def start(self, key: TimerKey, delay_ms: int, callback: Callable[[], None]) -> None:
        """Call back after `delay_ms`, instead of what this timer was set to before."""
        due_s = self._clock.monotonic() + delay_ms / 1000
        entry = self._entries.get(key)
        if entry is not None and entry.rings_s <= due_s:
            entry.due_s = due_s
            entry.callback = callback
            return
        self.stop(key)
        timer = self._scheduler.call_later(delay_ms / 1000, lambda: self._ring(key))
        self._entries[key] = _Entry(due_s, due_s, callback, timer)

    def stop(self, key: TimerKey) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            entry.timer.cancel()

    def stop_all(self) -> None:
        for key in list(self._entries):
            self.stop(key)

    def _ring(self, key: TimerKey) -> None:
        entry = self._entries[key]
        left_s = entry.due_s - entry.rings_s
        if left_s > 0:
            entry.rings_s = entry.due_s
            entry.timer = self._scheduler.call_later(left_s, lambda: self._ring(key))
            return
        del self._entries[key]
        entry.callback()
