"""Members of a group join, leave, crash and come back while a producer writes; nobody reads twice
what another one owns, no commit is lost, and no record is left unread.
"""

import contextlib
import queue
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compat_tests.crash.ledger import Broken
from compat_tests.crash.load import Load
from compat_tests.faults.members.commands import MEMBERS
from compat_tests.faults.members.terms import Terms
from compat_tests.faults.mortal import MortalBroker
from compat_tests.faults.offsets import Bystander
from compat_tests.faults.tales import Tales
from compat_tests.faults.workers import Child
from compat_tests.python_clients.confluent import Confluent

TOPIC = "shared"
GROUP = "members"
PARTITIONS = 12
LONGEST_PAUSE_S = 1.5
BROKER_DIES = 0.08
"""How often it is the broker that goes, and not a member."""
CRASHES = 0.5
"""How often a member that goes does so without a word."""
STALL_S = 90.0
SETTINGS = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
}

Tell = Callable[[str], None]


class Plan(NamedTuple):
    client: str
    flavour: str
    members: int
    seconds: float
    seed: int
    is_static: bool = False


class Summary(NamedTuple):
    plan: Plan
    joined: int
    left: int
    crashed: int
    gave_up: int
    broker_kills: int
    handovers: int
    records: int

    def __str__(self) -> str:
        kind = "static" if self.plan.is_static else "dynamic"
        return (
            f"{self.plan.members} {kind} members of {self.plan.client} ({self.plan.flavour}) in"
            f" {self.plan.seconds:.0f} s with seed {self.plan.seed}: joined {self.joined} times,"
            f" left {self.left}, crashed {self.crashed}, gave up {self.gave_up}, broker killed"
            f" {self.broker_kills}; partitions changed hands {self.handovers} times, never owned"
            f" twice; {self.records} records all read, no committed offset went back"
        )


def run(data_dir: Path, plan: Plan, tell: Tell = lambda line: None) -> Summary:
    """The whole story; the broker has stopped when this returns, its directory stays."""
    with MortalBroker(data_dir, SETTINGS) as broker:
        Confluent(broker.address).create(TOPIC, PARTITIONS)
        load = Load(broker.address, TOPIC, PARTITIONS, idempotent=True, seed=plan.seed)
        try:
            story = _Story(broker, plan)
            with story:
                story.play(tell)
                load.end()
                story.expect_the_rest()
        finally:
            load.abandon()
        if load.failures:
            raise Broken(f"the producer failed: {load.failures[:3]}")
    return story.summary(load.acknowledged)


class _Slot:
    """A place in the group: empty, or held by one life of one member."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lives = 0
        self.child: Child | None = None
        self.is_leaving = False

    @property
    def life(self) -> str:
        return f"{self.number}.{self.lives}"


class _Story:
    def __init__(self, broker: MortalBroker, plan: Plan) -> None:
        self._broker = broker
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._tales = Tales(PARTITIONS)
        self._told: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._slots = [_Slot(number) for number in range(plan.members)]
        self._committed = [0] * PARTITIONS
        self._left = self._crashed = self._gave_up = 0
        self._bystander = Bystander(broker.address, TOPIC, PARTITIONS, group=GROUP)

    def __enter__(self) -> "_Story":
        return self

    def __exit__(self, *error: object) -> None:
        for slot in self._slots:
            if slot.child is not None:
                slot.child.kill()
        self._bystander.__exit__()

    def play(self, tell: Tell) -> None:
        """Everybody joins, and then chance has its way for a while."""
        for slot in self._slots:
            self._join(slot)
        self._read_something()
        end = time.monotonic() + self._plan.seconds
        while time.monotonic() < end:
            self._listen(self._random.uniform(0, LONGEST_PAUSE_S))
            self._look()
            tell(f"{end - time.monotonic():4.0f} s left: {self._happen()}")

    def expect_the_rest(self) -> None:
        """The producer has ended: whoever is there now reads up to the end, and all leave."""
        for slot in self._slots:
            if slot.child is None:
                self._join(slot)
        ends = self._bystander.ends()
        self._wait(lambda: self._committed == ends)
        for slot in self._slots:
            self._leave(slot)
        self._wait(lambda: all(slot.child is None for slot in self._slots))
        self._tales.expect_one_owner_at_a_time()
        self._tales.expect_all_read(ends)
        self._tales.expect_committed(self._committed)

    def summary(self, records: int) -> Summary:
        return Summary(
            self._plan,
            sum(slot.lives for slot in self._slots),
            self._left,
            self._crashed,
            self._gave_up,
            self._broker.kills,
            sum(map(len, self._tales.spells)),
            records,
        )

    def _read_something(self) -> None:
        self._wait(lambda: sum(self._committed) > 0)

    def _happen(self) -> str:
        if self._random.random() < BROKER_DIES:
            self._broker.restart()
            return "the broker is killed"
        slot = self._random.choice(self._slots)
        if slot.child is None:
            self._join(slot)
            return f"{slot.life} joins"
        if self._random.random() < CRASHES:
            self._crash(slot)
            return f"{slot.life} crashes"
        self._leave(slot)
        return f"{slot.life} leaves"

    def _join(self, slot: _Slot) -> None:
        slot.lives += 1
        slot.is_leaving = False
        instance = f"place-{slot.number}" if self._plan.is_static else ""
        terms = Terms(self._broker.address, TOPIC, GROUP, self._plan.flavour, instance)
        life = slot.life
        slot.child = Child(
            MEMBERS[self._plan.client](terms), lambda line: self._told.put((life, line))
        )

    def _leave(self, slot: _Slot) -> None:
        if slot.child is not None and not slot.is_leaving:
            self._left += 1
            slot.is_leaving = True
            slot.child.ask_to_end()

    def _crash(self, slot: _Slot) -> None:
        assert slot.child is not None
        self._crashed += 1
        slot.child.kill()
        self._bury(slot)

    def _bury(self, slot: _Slot) -> None:
        """It is gone, and everything it said was heard."""
        self._listen()
        self._tales.end(slot.life, time.time() * 1000)
        slot.child = None

    def _look(self) -> None:
        """Take in what was told, who is gone, and what is committed."""
        self._listen()
        for slot in self._slots:
            if slot.child is not None and not slot.child.is_alive():
                self._gave_up += slot.child.wait() != 0 and not slot.is_leaving
                self._bury(slot)
        found = self._bystander.committed()
        if found is None:
            return
        for partition, (before, now) in enumerate(zip(self._committed, found, strict=True)):
            if now < before:
                raise Broken(f"partition {partition}: committed {before}, and later {now}")
        self._committed = found

    def _listen(self, for_s: float = 0) -> None:
        """Take in what was told, and what will be in the next seconds."""
        end = time.monotonic() + for_s
        with contextlib.suppress(queue.Empty):
            while True:
                left_s = max(end - time.monotonic(), 0)
                self._tales.hear(*self._told.get(block=left_s > 0, timeout=left_s or None))

    def _wait(self, is_over: Callable[[], bool]) -> None:
        deadline = time.monotonic() + STALL_S
        while not is_over():
            before = self._committed
            self._look()
            if self._committed != before:
                deadline = time.monotonic() + STALL_S
            if time.monotonic() > deadline:
                raise Broken(
                    f"stuck at {self._committed} of {self._bystander.ends()}:"
                    f" {self._tales.strange_lines[-20:]} {self._broker.last_words}"
                )
            self._listen(0.02)
