"""Where hostile input is tried: a kwire broker of its own, watched, and the shared Kafka."""

import time
from collections.abc import Iterator

import pytest

from compat_tests.bad_input.rows import Ground
from compat_tests.bad_input.watch import Watch
from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

HOUR_MS = "3600000"


def _prepare(broker: BrokerProcess) -> Ground:
    client = Confluent(broker.bootstrap)
    client.create("plain.topic")
    client.create("compacted.topic", configs={"cleanup.policy": "compact"})
    limits = ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms")
    client.create("timed.topic", configs=dict.fromkeys(limits, HOUR_MS))
    now = time.time_ns() // 1_000_000
    return Ground(broker.bootstrap, "plain.topic", "compacted.topic", "timed.topic", now)


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A kwire broker that nobody else uses, so that its memory and its files can be watched."""
    broker = start_kwire(tmp_path_factory.mktemp("target") / "data")
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def kwire_ground(target: BrokerProcess) -> Ground:
    return _prepare(target)


@pytest.fixture(scope="session")
def kafka_ground(kafka_broker: BrokerProcess) -> Ground:
    return _prepare(kafka_broker)


@pytest.fixture
def watch(target: BrokerProcess, kwire_ground: Ground) -> Iterator[Watch]:
    """What must not change, however hostile the input."""
    watching = Watch(target)
    yield watching
    watching.close()
