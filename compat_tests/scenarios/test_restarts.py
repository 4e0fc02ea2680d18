"""Scenarios with a restart of kwire in the middle: the logs must have told it everything.

All of them are played at once. Each stops halfway, the broker is restarted, and all go on: what
Kafka answered without a restart is what kwire must answer after one.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.scenarios.brokers import start_kwire_for_scenarios
from compat_tests.scenarios.intended import INTENDED
from compat_tests.scenarios.play import Play
from compat_tests.scenarios.recordings import differences, load
from compat_tests.scenarios.table import MODULES, scenarios_of, stem_of
from compat_tests.scenarios.transactions import timing_out

NOT_IN_THE_LOG = {
    # Snapshots of producers hold their last batch and no more, as Kafka's do.
    "each of the last five batches is known again",
    # Who is about to join is not written down, and joins again.
    "members commit while others join",
    "members do not commit between joining and syncing",
}
ON_DISK = ("transactions.", "groups.fetching_offsets")
PLAYED = {
    (stem_of(module), name): scenario
    for module in MODULES
    for name, scenario in scenarios_of(module).items()
    if module is not timing_out
    and stem_of(module).startswith(ON_DISK)
    and name not in NOT_IN_THE_LOG
}
RISING = (".leader_epoch", ".coordinator_epoch")
"""After a crash partitions are led in a new epoch."""

PATIENCE_S = 30


class Interval:
    """Where players wait for each other, and then for the broker."""

    def __init__(self) -> None:
        self._waiting = threading.Semaphore(0)
        self._over = threading.Event()

    def pause(self) -> None:
        self._waiting.release()
        assert self._over.wait(PATIENCE_S), "nobody ended the interval"

    def wait_for(self, players: int) -> None:
        for _ in range(players):
            assert self._waiting.acquire(timeout=PATIENCE_S), "somebody never came halfway"

    def end(self) -> None:
        self._over.set()


def _play(stem: str, name: str, address: str, interval: Interval) -> list[str]:
    expected = load(stem)[name]
    left = [len(expected) // 2]

    def before_step(number: int) -> None:
        if left and number > left[0]:
            left.clear()
            interval.pause()

    with closing(Play(address, before_step)) as play:
        PLAYED[stem, name](play)
    return [
        f"{stem}: {name}: {one}"
        for one in differences(expected, play.steps)
        if not one.path.endswith(RISING)
        and not any(intended.covers(stem, name, one) for intended in INTENDED)
    ]


def _restart(broker: BrokerProcess, data_dir: Path, how: str) -> BrokerProcess:
    broker.kill() if how == "crash" else broker.stop()
    return start_kwire_for_scenarios(data_dir, address=broker.bootstrap)


@pytest.mark.parametrize("how", ["stop", "crash"])
def test_kwire_goes_on_where_it_was(how: str, tmp_path: Path) -> None:
    broker = start_kwire_for_scenarios(tmp_path / "data")
    interval = Interval()
    with ThreadPoolExecutor(len(PLAYED)) as players:
        playing = [players.submit(_play, *key, broker.bootstrap, interval) for key in PLAYED]
        try:
            interval.wait_for(len(PLAYED))
            broker = _restart(broker, tmp_path / "data", how)
        finally:
            interval.end()
        found = [line for one in playing for line in one.result()]
    broker.stop()
    assert not found, "\n".join(["", *found])
