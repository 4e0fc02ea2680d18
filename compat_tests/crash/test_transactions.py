"""Transactions over a broker that dies: each is there as a whole or not at all, never twice."""

import random
import threading
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.dump import complaints
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

TOPICS = ("left", "right")
KILLS = 5
PATIENCE_S = 30.0


class MortalBroker:
    """A broker that is killed now and then, by a thread of its own, and started again at once.

    It dies a random moment after the client `moved`: a client needs a second to find it again, and
    kills that come faster would hit nothing.
    """

    def __init__(self, data_dir: Path, seed: int) -> None:
        self._data_dir = data_dir
        self._random = random.Random(seed)
        self._broker = start_kwire(data_dir)
        self._ending = threading.Event()
        self.moved = threading.Event()
        self.kills = 0
        self.address = self._broker.bootstrap
        self._thread = threading.Thread(target=self._kill_and_start)

    def __enter__(self) -> "MortalBroker":
        Confluent(self.address).create(TOPICS[0])
        Confluent(self.address).create(TOPICS[1])
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.calm()
        self._broker.stop()

    def calm(self) -> BrokerProcess:
        """From now on it lives."""
        self._ending.set()
        self.moved.set()
        self._thread.join(60)
        return self._broker

    def _kill_and_start(self) -> None:
        while self.moved.wait() and not self._ending.wait(self._random.uniform(0, 0.1)):
            self._broker.kill()
            self.kills += 1
            self.moved.clear()
            self._broker = start_kwire(self._data_dir, address=self.address)


def _producer(address: str) -> Producer:
    settings = {
        "bootstrap.servers": address,
        "transactional.id": "mover",
        "linger.ms": 0,
        "reconnect.backoff.ms": 10,
        "reconnect.backoff.max.ms": 50,
        "log_level": 0,
    }
    producer = Producer(settings)
    producer.init_transactions(PATIENCE_S)
    return producer


def _move(producer: Producer, number: int, is_kept: bool) -> None:
    """One transaction: the same number to both topics."""
    producer.begin_transaction()
    for topic in TOPICS:
        producer.produce(topic, b"%d" % number, partition=0)
    if is_kept:
        producer.commit_transaction(PATIENCE_S)
    else:
        producer.flush(PATIENCE_S)
        producer.abort_transaction(PATIENCE_S)


@pytest.mark.jvm
@pytest.mark.slow
def test_a_transaction_is_whole_or_nothing(tmp_path: Path) -> None:
    chosen = random.Random(6)
    committed: list[int] = []
    aborted: list[int] = []
    with MortalBroker(tmp_path / "data", seed=6) as mortal:
        producer = _producer(mortal.address)
        number = 0
        while mortal.kills < KILLS:
            number += 1
            is_kept = chosen.random() < 0.8
            try:
                _move(producer, number, is_kept)
            except KafkaException:
                # Whatever became of it, the next producer of this name settles it.
                producer = _producer(mortal.address)
            else:
                (committed if is_kept else aborted).append(number)
                mortal.moved.set()
        broker = mortal.calm()
        left, right = (_numbers(broker, topic) for topic in TOPICS)
    assert left == right
    assert left == sorted(set(left))
    assert set(committed) <= set(left)
    assert not set(aborted) & set(left)
    assert len(committed) >= KILLS
    assert complaints(tmp_path / "data") == []


def _numbers(broker: BrokerProcess, topic: str) -> list[int]:
    client = Confluent(broker.bootstrap)
    end = client.stable_end(topic, "read_committed")
    assert end == client.stable_end(topic, "read_uncommitted"), "a transaction is still open"
    return [int(one.value or b"") for one in client.read_to(topic, end)]
