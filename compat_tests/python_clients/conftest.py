"""The three Python clients in turn, each bound to the broker under test."""

from collections.abc import Callable

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.aio import AioKafka
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.kafka_python import KafkaPython
from compat_tests.python_clients.values import Client

CLIENTS: dict[str, Callable[[str], Client]] = {
    "confluent": Confluent,
    "kafka-python": KafkaPython,
    "aiokafka": AioKafka,
}


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, broker: BrokerProcess) -> Client:
    """Each client library; the same test must hold for all of them."""
    return CLIENTS[request.param](broker.bootstrap)


@pytest.fixture
def every_client(broker: BrokerProcess) -> list[Client]:
    """All of them, to read what `client` wrote."""
    return [bind(broker.bootstrap) for bind in CLIENTS.values()]
