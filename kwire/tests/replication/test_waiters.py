"""A fetch that waits is called back exactly once, and lets go of everything."""

from kwire.replication.waiters import WaitingFetch
from kwire.tests.handlers.nodes import ManualScheduler


class _Watched:
    def __init__(self) -> None:
        self.watching: set[WaitingFetch] = set()

    def watch(self, waiting: WaitingFetch) -> None:
        self.watching.add(waiting)

    def unwatch(self, waiting: WaitingFetch) -> None:
        self.watching.discard(waiting)


def _wait(
    scheduler: ManualScheduler, *partitions: _Watched, missing_bytes: int = 10
) -> tuple[WaitingFetch, list[str]]:
    calls: list[str] = []
    waiting = WaitingFetch(
        partitions,
        missing_bytes=missing_bytes,
        wait_s=0.5,
        scheduler=scheduler,
        ready=lambda: calls.append("ready"),
    )
    return waiting, calls


def test_it_watches_every_partition_and_lets_go_of_all(scheduler: ManualScheduler) -> None:
    first, second = _Watched(), _Watched()
    waiting, _ = _wait(scheduler, first, second)
    assert first.watching == second.watching == {waiting}
    waiting.changed()
    assert first.watching == second.watching == set()


def test_bytes_of_several_partitions_add_up(scheduler: ManualScheduler) -> None:
    waiting, calls = _wait(scheduler, _Watched(), _Watched())
    waiting.grew(6)
    scheduler.end_turn()
    assert calls == []
    waiting.grew(4)
    assert calls == []
    scheduler.end_turn()
    assert calls == ["ready"]


def test_several_reasons_in_one_turn_are_one_call(scheduler: ManualScheduler) -> None:
    waiting, calls = _wait(scheduler, _Watched())
    waiting.grew(100)
    waiting.grew(100)
    waiting.changed()
    scheduler.end_turn()
    scheduler.pass_time(1000)
    assert calls == ["ready"]


def test_time_runs_out(scheduler: ManualScheduler) -> None:
    watched = _Watched()
    _, calls = _wait(scheduler, watched)
    scheduler.pass_time(500)
    assert calls == ["ready"]
    assert watched.watching == set()


def test_who_is_cancelled_is_never_called(scheduler: ManualScheduler) -> None:
    watched = _Watched()
    waiting, calls = _wait(scheduler, watched)
    waiting.cancel()
    waiting.grew(100)
    scheduler.pass_time(1000)
    assert calls == []
    assert watched.watching == set()


def test_who_is_cancelled_between_the_bytes_and_the_end_of_the_turn_is_called_no_more(
    scheduler: ManualScheduler,
) -> None:
    waiting, calls = _wait(scheduler, _Watched())
    waiting.grew(100)
    waiting.cancel()
    scheduler.end_turn()
    assert calls == []
