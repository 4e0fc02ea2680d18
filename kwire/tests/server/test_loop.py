"""The scheduler on a real loop: the pool, and its end."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from kwire.server.loop import LoopScheduler, new_event_loop

PATIENCE_S = 10.0


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = new_event_loop()
    yield made
    made.close()


def _run_until(loop: asyncio.AbstractEventLoop, over: asyncio.Future[None]) -> None:
    loop.run_until_complete(asyncio.wait_for(over, PATIENCE_S))


def test_work_runs_in_a_thread_and_its_value_comes_back_to_the_loop(
    loop: asyncio.AbstractEventLoop,
) -> None:
    scheduler, over = LoopScheduler(loop), loop.create_future()
    workers: list[object] = []
    receivers: list[int] = []

    def done(worker: object) -> None:
        workers.append(worker)
        receivers.append(threading.get_ident())
        over.set_result(None)

    scheduler.in_pool(threading.get_ident, done)
    _run_until(loop, over)
    scheduler.close()
    assert receivers == [threading.get_ident()]
    assert workers != receivers


def test_a_failure_in_the_pool_comes_back_as_the_exception(
    loop: asyncio.AbstractEventLoop,
) -> None:
    scheduler, over = LoopScheduler(loop), loop.create_future()
    outcomes: list[object] = []

    def done(outcome: object) -> None:
        outcomes.append(outcome)
        over.set_result(None)

    scheduler.in_pool(lambda: 1 // 0, done)
    _run_until(loop, over)
    scheduler.close()
    assert isinstance(outcomes[0], ZeroDivisionError)


def test_closing_waits_for_what_is_under_way(loop: asyncio.AbstractEventLoop) -> None:
    scheduler = LoopScheduler(loop)
    started, finished = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        finished.set()

    scheduler.in_pool(work, lambda outcome: None)
    assert started.wait(PATIENCE_S)
    scheduler.close()
    assert finished.is_set()


def test_what_comes_soon_and_later_runs_in_that_order(loop: asyncio.AbstractEventLoop) -> None:
    scheduler, over = LoopScheduler(loop), loop.create_future()
    order: list[str] = []

    def later() -> None:
        order.append("later")
        over.set_result(None)

    scheduler.call_later(0.2, later)
    scheduler.call_soon(lambda: order.append("soon"))
    _run_until(loop, over)
    assert order == ["soon", "later"]


def test_a_cancelled_timer_never_fires(loop: asyncio.AbstractEventLoop) -> None:
    scheduler, over = LoopScheduler(loop), loop.create_future()
    fired: list[str] = []
    scheduler.call_later(0.0, lambda: fired.append("cancelled")).cancel()
    scheduler.call_later(0.001, lambda: over.set_result(None))
    _run_until(loop, over)
    assert fired == []
