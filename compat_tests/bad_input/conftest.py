"""Where hostile input is tried: a kwire broker of its own, watched, and the shared Kafka."""

import time
from collections.abc import Iterator

import pytest

from compat_tests.bad_input import groups, transactions
from compat_tests.bad_input.rows import Ground, error_after_throttle
from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.watch import Watch
from compat_tests.bad_input.wire import Reader, array, i8, request, text
from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.waiting import eventually

HOUR_MS = "3600000"
GROUP, TRANSACTION = 0, 1


def _prepare(broker: BrokerProcess) -> Ground:
    client = Confluent(broker.bootstrap)
    client.create("plain.topic")
    client.create("compacted.topic", configs={"cleanup.policy": "compact"})
    limits = ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms")
    client.create("timed.topic", configs=dict.fromkeys(limits, HOUR_MS))
    # Whoever asks first makes the internal topics, which would look like a change later.
    eventually(
        lambda: _first_error(broker.bootstrap, GROUP, groups.join_group(protocols=array())),
        lambda code: code == groups.INCONSISTENT_GROUP_PROTOCOL,
    )
    eventually(
        lambda: _first_error(broker.bootstrap, TRANSACTION, transactions.end_transaction()),
        lambda code: code == transactions.INVALID_PRODUCER_ID_MAPPING,
    )
    now = time.time_ns() // 1_000_000
    return Ground(broker.bootstrap, "plain.topic", "compacted.topic", "timed.topic", now)


def _first_error(address: str, kind: int, sent: bytes) -> int:
    """Look for a coordinator and ask it; Kafka needs a while until it has one."""
    exchange(address, request(groups.FIND_COORDINATOR, 1, text("nobody") + i8(kind)))
    answer = exchange(address, sent).answer
    assert answer is not None
    return error_after_throttle(Reader(answer))


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
