"""Brokers of the scenarios' own, and nobody else's: their limits are small."""

from collections.abc import Iterator

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.scenarios.brokers import start_kafka_for_scenarios, start_kwire_for_scenarios


@pytest.fixture(scope="session")
def kwire_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    broker = start_kwire_for_scenarios(tmp_path_factory.mktemp("kwire-scenarios") / "data")
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def kafka_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    broker = start_kafka_for_scenarios(tmp_path_factory.mktemp("kafka-scenarios") / "data")
    yield broker
    broker.stop()
