"""Kill kwire at random moments under load, start it again, and check what it promised."""

import random
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, TopicPartition

from compat_tests.crash.ledger import Broken, Ledger, Stored
from compat_tests.crash.load import Load
from compat_tests.crash.lossy_proxy import LossyProxy
from compat_tests.oracle.brokers import free_address, kwire_command, start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

TOPIC = "crashed"
PARTITIONS = 4
SEGMENT_BYTES = str(1 << 20)
LONGEST_LIFE_S = 0.6
LONGEST_BIRTH_S = 0.25
BORN_DEAD = 0.2
"""How often the broker is killed once more while it recovers."""
LOSS = 0.02
"""How often the answer to a Produce request is lost on the way."""
PATIENCE_S = 20.0


class Summary(NamedTuple):
    kills: int
    kills_in_recovery: int
    lost_answers: int
    acknowledged: int
    stored: int
    slowest_start_s: float

    def __str__(self) -> str:
        return (
            f"{self.kills} kills under load, {self.kills_in_recovery} during recovery and"
            f" {self.lost_answers} lost answers: {self.acknowledged} acknowledged records,"
            f" {self.stored} stored, none lost, moved or doubled;"
            f" the slowest start took {self.slowest_start_s * 1000:.0f} ms"
        )


class Supervisor:
    """One data directory, and the brokers that live and die on it one after the other."""

    def __init__(self, data_dir: Path, seed: int) -> None:
        self._data_dir = data_dir
        self._port = free_address()
        self._proxy = LossyProxy(self._port, loss=LOSS, seed=seed)
        self._settings = {"advertised.listeners": f"PLAINTEXT://{self._proxy.address}"}
        self._random = random.Random(seed)
        self._ledger = Ledger(PARTITIONS)
        self._broker = self._start()
        self._slowest_start_s = 0.0
        self._kills_in_recovery = 0
        settings = {"segment.bytes": SEGMENT_BYTES, "index.interval.bytes": "1000"}
        Confluent(self._proxy.address).create(TOPIC, PARTITIONS, settings)
        self._loads = [
            Load(
                self._proxy.address,
                TOPIC,
                PARTITIONS,
                idempotent=idempotent,
                seed=seed + idempotent,
            )
            for idempotent in (True, False)
        ]

    def run(self, kills: int, tell: Callable[[str], None] = lambda line: None) -> Summary:
        """Kill it so many times; the broker has stopped for good when this returns."""
        try:
            for number in range(1, kills + 1):
                self._live()
                self._broker.kill()
                self._restart()
                self._check()
                tell(f"{number}: {self._ledger.acknowledged} acknowledged")
            for load in self._loads:
                load.end()
            self._check()
            self._ledger.expect_all_of(self._loads[0].values())
        except BaseException:
            for load in self._loads:
                load.abandon()
            self._broker.kill()
            raise
        finally:
            self._proxy.close()
        stopped = self._broker.stop()
        if stopped != 0:
            raise Broken(f"the last broker ended with {stopped}:\n" + "".join(self._broker.printed))
        return Summary(
            kills,
            self._kills_in_recovery,
            self._proxy.lost,
            self._ledger.acknowledged,
            sum(map(len, self._ledger.log)),
            self._slowest_start_s,
        )

    def _live(self) -> None:
        """Let the load get going, and then run for a random while."""
        before = [load.acknowledged for load in self._loads]
        self._wait(
            PATIENCE_S,
            lambda: all(load.acknowledged > n for load, n in zip(self._loads, before, strict=True)),
        )
        self._wait(self._random.uniform(0, LONGEST_LIFE_S), lambda: False)

    def _wait(self, longest_s: float, is_over: Callable[[], bool]) -> None:
        """The producers work in threads of their own meanwhile."""
        end = time.monotonic() + longest_s
        pause = threading.Event()
        while not is_over() and time.monotonic() < end:
            pause.wait(0.002)

    def _restart(self) -> None:
        if self._random.random() < BORN_DEAD:
            self._kills_in_recovery += 1
            self._start_and_kill(self._random.uniform(0, LONGEST_BIRTH_S))
        began = time.monotonic()
        self._broker = self._start()
        self._slowest_start_s = max(self._slowest_start_s, time.monotonic() - began)

    def _start(self) -> BrokerProcess:
        return start_kwire(self._data_dir, self._settings, address=self._port)

    def _start_and_kill(self, after_s: float) -> None:
        child = subprocess.Popen(
            kwire_command(self._data_dir, self._port, self._settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            child.wait(after_s)
        except subprocess.TimeoutExpired:
            child.kill()
        child.wait()

    def _check(self) -> None:
        for load in self._loads:
            if load.failures:
                raise Broken(f"a producer failed: {load.failures[:3]}")
            self._ledger.acknowledge(load.take())
        with _reader(self._proxy.address) as consumer:
            for partition in range(PARTITIONS):
                where = TopicPartition(TOPIC, partition)
                _, end = consumer.get_watermark_offsets(where, PATIENCE_S)
                first = len(self._ledger.log[partition])
                self._ledger.extend(partition, _read(consumer, partition, first, end))
        self._ledger.check()


class _reader:
    def __init__(self, address: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "never-joined",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 20,
                "log_level": 0,
            }
        )

    def __enter__(self) -> Consumer:
        return self._consumer

    def __exit__(self, *error: object) -> None:
        self._consumer.close()


def _read(consumer: Consumer, partition: int, first: int, end: int) -> list[Stored]:
    stored: list[Stored] = []
    deadline = time.monotonic() + PATIENCE_S
    consumer.assign([TopicPartition(TOPIC, partition, first)])
    while len(stored) < end - first:
        if time.monotonic() > deadline:
            raise Broken(f"partition {partition} gave {len(stored)} records of {first}..{end}")
        for message in consumer.consume(end - first - len(stored), timeout=0.2):
            if message.error() is not None:
                raise Broken(message.error().str())
            name = b"-".join(message.value().split(b"-", 2)[:2]) + b"-"
            stored.append(Stored(message.offset(), name))
    return stored
