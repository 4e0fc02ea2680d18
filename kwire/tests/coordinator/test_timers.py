"""Timers that are moved much more often than they ring."""

from kwire.clock import ManualClock
from kwire.coordinator.timers import Timers
from kwire.tests.handlers.nodes import ManualScheduler


class _Bell:
    def __init__(self) -> None:
        self.scheduler = ManualScheduler(ManualClock())
        self.timers = Timers(self.scheduler, self.scheduler.clock)
        self.rung: list[str] = []

    def start(self, key: str, delay_ms: int, text: str | None = None) -> None:
        self.timers.start(key, delay_ms, lambda: self.rung.append(text or key))


def test_a_timer_rings_once_when_its_time_is_there() -> None:
    bell = _Bell()
    bell.start("a", 100)
    bell.scheduler.pass_time(99)
    assert bell.rung == []
    bell.scheduler.pass_time(1)
    bell.scheduler.pass_time(1000)
    assert bell.rung == ["a"]
    assert len(bell.timers) == 0


def test_a_timer_that_is_moved_rings_at_the_later_time_and_says_the_newer_thing() -> None:
    bell = _Bell()
    bell.start("a", 100, "old")
    bell.scheduler.pass_time(50)
    bell.start("a", 100, "new")
    bell.scheduler.pass_time(99)
    assert bell.rung == []
    bell.scheduler.pass_time(1)
    assert bell.rung == ["new"]


def test_moving_a_timer_later_asks_the_scheduler_for_nothing() -> None:
    bell = _Bell()
    for _ in range(100):
        bell.start("a", 100)
        bell.scheduler.clock.advance(1)
    assert len(bell.scheduler.timers) == 1


def test_a_timer_can_be_moved_to_an_earlier_time() -> None:
    bell = _Bell()
    bell.start("a", 100)
    bell.start("a", 10)
    bell.scheduler.pass_time(10)
    assert bell.rung == ["a"]
    bell.scheduler.pass_time(1000)
    assert bell.rung == ["a"]


def test_timers_that_are_stopped_do_not_ring() -> None:
    bell = _Bell()
    for key in "abc":
        bell.start(key, 10)
    bell.timers.stop("a")
    bell.timers.stop("unknown")
    bell.scheduler.pass_time(10)
    assert bell.rung == ["b", "c"]
    bell.start("d", 10)
    bell.timers.stop_all()
    bell.scheduler.pass_time(10)
    assert bell.rung == ["b", "c"]
