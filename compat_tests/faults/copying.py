"""Copy a topic exactly once while copiers and broker are killed, and check what came of it.

A copier consumes, produces and commits its offsets in one transaction. Whoever reads only what is
committed must see the copy as if nothing had happened: every record once, in order.
"""

import random
import time
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from kafka import KafkaAdminClient

from compat_tests.crash.ledger import Broken
from compat_tests.faults.copiers.commands import COPIERS
from compat_tests.faults.copiers.terms import Terms
from compat_tests.faults.mortal import MortalBroker
from compat_tests.faults.offsets import Bystander, Copied
from compat_tests.faults.workers import Worker
from compat_tests.oracle import tools
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

SOURCE = "original"
TARGET = "copy"
GROUP = "copiers"
PARTITIONS = 4
KEYS = 50
BROKER_DIES = 0.4
"""How often it is the broker's turn, and not a copier's."""
STALL_S = 90.0
GRACE_S = 10.0
"""How much later than its timeout a transaction may end."""
OPEN_STATES = {"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"}

Tell = Callable[[str], None]


class Plan(NamedTuple):
    client: str
    records: int
    kills: int
    seed: int
    copiers: int = 2
    transaction_timeout_ms: int = 10_000
    settings: Mapping[str, str] = {}


class Summary(NamedTuple):
    plan: Plan
    broker_kills: int
    gave_up: int
    copy_s: float
    aborted_after_s: float
    slowest_start_s: float

    def __str__(self) -> str:
        return (
            f"{self.plan.records} records copied by {self.plan.client} in {self.copy_s:.1f} s"
            f" with seed {self.plan.seed}: broker killed {self.broker_kills} times, copiers"
            f" {self.plan.kills - self.broker_kills} times, gave up {self.gave_up} times;"
            " none lost, doubled or out of order; no transaction left open,"
            f" an abandoned one ended after {self.aborted_after_s:.1f} s"
            f" (timeout {self.plan.transaction_timeout_ms / 1000:.0f} s);"
            f" the slowest start took {self.slowest_start_s * 1000:.0f} ms"
        )


def run(data_dir: Path, plan: Plan, tell: Tell = lambda line: None) -> Summary:
    """The whole story; the broker has stopped when this returns, its directory stays."""
    settings = {"group.min.session.timeout.ms": "500", **plan.settings}
    with MortalBroker(data_dir, settings) as broker:
        client = Confluent(broker.address)
        original = originals(plan.records)
        client.create(SOURCE, PARTITIONS)
        client.create(TARGET, PARTITIONS)
        _write(client, original)
        began = time.monotonic()
        gave_up = _Copying(broker, plan).run(tell)
        copy_s = time.monotonic() - began
        aborted_after_s = _abandon_one(broker.address, plan.transaction_timeout_ms)
        _expect_none_open(broker.address)
        with Bystander(
            broker.address, TARGET, PARTITIONS, group="never-joined", committed_only=True
        ) as reader:
            compare(original, reader.read_all())
    return Summary(plan, broker.kills, gave_up, copy_s, aborted_after_s, broker.slowest_start_s)


def originals(count: int) -> list[list[Copied]]:
    """What is copied: each record says where it belongs, and keys stay in their partitions."""
    made: list[list[Copied]] = [[] for _ in range(PARTITIONS)]
    for number in range(count):
        key = number % KEYS
        partition = made[key % PARTITIONS]
        partition.append(Copied(b"key-%d" % key, b"%d of key %d" % (number, key)))
    return made


def compare(original: list[list[Copied]], copy: list[list[Copied]]) -> None:
    """The copy is the original, record by record."""
    for index, (wanted, got) in enumerate(zip(original, copy, strict=True)):
        if wanted == got:
            continue
        lost, seen = set(wanted) - set(got), set(got)
        doubled = len(got) - len(seen)
        strange = seen - set(wanted)
        pairs = enumerate(zip_longest(wanted, got))
        first = next(number for number, (one, other) in pairs if one != other)
        raise Broken(
            f"partition {index}: {len(got)} records of {len(wanted)}, {len(lost)} lost"
            f" {sorted(lost)[:3]}, {doubled} doubled, {len(strange)} strange {sorted(strange)[:3]};"
            f" they differ from record {first} on: {wanted[first : first + 2]}"
            f" became {got[first : first + 2]}"
        )


class _Copying:
    """From the first copier's start until everything is copied and no copier is left."""

    def __init__(self, broker: MortalBroker, plan: Plan) -> None:
        self._broker = broker
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._copied = 0
        self._bystander = Bystander(broker.address, SOURCE, PARTITIONS, group=GROUP)
        self._copiers = [self._copier(number) for number in range(plan.copiers)]

    def run(self, tell: Tell) -> int:
        """How often copiers ended by themselves."""
        try:
            with self._bystander:
                moments = self._random.sample(range(self._plan.records), self._plan.kills)
                for moment in sorted(moments):
                    self._reach(moment)
                    tell(f"{self._copied} copied, {self._kill()} is killed")
                self._reach(self._plan.records)
        finally:
            for copier in self._copiers:
                copier.retire()
        return sum(copier.gave_up for copier in self._copiers)

    def _copier(self, number: int) -> Worker:
        timeout_ms = self._plan.transaction_timeout_ms
        terms = Terms(self._broker.address, SOURCE, TARGET, GROUP, f"copier-{number}", timeout_ms)
        return Worker(COPIERS[self._plan.client](terms))

    def _kill(self) -> str:
        if self._random.random() < BROKER_DIES:
            self._broker.restart()
            return "the broker"
        number = self._random.randrange(len(self._copiers))
        self._copiers[number].kill()
        return f"copier {number}"

    def _reach(self, goal: int) -> None:
        """Wait until so many records are copied; committed offsets never go back meanwhile."""
        deadline = time.monotonic() + STALL_S
        while self._copied < goal:
            committed = self._bystander.committed()
            copied = self._copied if committed is None else sum(committed)
            if copied < self._copied:
                raise Broken(f"committed offsets went back, from {self._copied} to {copied}")
            if copied > self._copied:
                self._copied = copied
                deadline = time.monotonic() + STALL_S
            elif time.monotonic() > deadline:
                raise Broken(f"stuck at {copied} of {goal}: {self._last_words()}")

    def _last_words(self) -> str:
        said = [f"copier {n}: {one.last_words}" for n, one in enumerate(self._copiers)]
        return "\n".join([*said, f"broker: {self._broker.last_words}"])


def _write(client: Confluent, original: list[list[Copied]]) -> None:
    for index, records in enumerate(original):
        sent = [Sent(record.value, record.key, partition=index) for record in records]
        for start in range(0, len(sent), 10_000):
            client.write(SOURCE, sent[start : start + 10_000], idempotent=True)


def _abandon_one(address: str, timeout_ms: int) -> float:
    """Leave a transaction open; how long it takes until readers get past it."""
    abandoned = Producer(
        {
            "bootstrap.servers": address,
            "transactional.id": "abandoned",
            "transaction.timeout.ms": timeout_ms,
            "log_level": 0,
        }
    )
    abandoned.init_transactions()
    abandoned.begin_transaction()
    began = time.monotonic()
    for partition in range(PARTITIONS):
        abandoned.produce(TARGET, b"never to be seen", partition=partition)
    abandoned.flush(GRACE_S)
    with (
        Bystander(address, TARGET, PARTITIONS, group="never-joined") as anybody,
        Bystander(
            address, TARGET, PARTITIONS, group="never-joined", committed_only=True
        ) as careful,
    ):
        if anybody.ends() == careful.ends():
            raise Broken("an open transaction hides nothing")
        while anybody.ends() != careful.ends():
            if time.monotonic() - began > timeout_ms / 1000 + GRACE_S:
                raise Broken(f"stable up to {careful.ends()} only, of {anybody.ends()}")
            careful.rest(0.05)
    return time.monotonic() - began


def _expect_none_open(address: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=address)
    try:
        found = [one for listed in admin.list_transactions().values() for one in listed]
    finally:
        admin.close()
    hanging = [one for one in found if getattr(one.state, "value", one.state) in OPEN_STATES]
    if hanging or not found:
        raise Broken(f"open transactions: {hanging}, of {len(found)}")
    _expect_none_hanging(address)


def _expect_none_hanging(address: str) -> None:
    """Kafka's own search, which also asks the partitions themselves."""
    at = ("--bootstrap-server", address)
    ran = tools.run(tools.TRANSACTIONS, *at, "find-hanging", "--broker-id", "1")
    if ran.code != 0 or len(ran.lines) > 1:
        raise Broken(f"kafka-transactions says: {ran.out}{ran.err}")
