"""Fixtures of the compatibility tests: the same test against kwire and against Apache Kafka.

A test that takes `broker` runs twice, once against each. Both brokers are shared by a whole run
(one per worker), so tests take `topic`, a name nobody else uses, and never count all topics.
"""

import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from compat_tests.oracle.brokers import start_kafka, start_kwire
from compat_tests.oracle.processes import BrokerProcess


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what its broker said last."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, BrokerProcess):
                report.sections.append((f"last lines of {name}", "".join(value.printed[-40:])))
    return report


@pytest.fixture(scope="session")
def kwire_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One kwire broker, started for the first test that asks for it."""
    broker = start_kwire(tmp_path_factory.mktemp("kwire") / "data")
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One Apache Kafka broker, started for the first test that asks for it."""
    broker = start_kafka(tmp_path_factory.mktemp("kafka") / "data")
    yield broker
    broker.stop()


@pytest.fixture(params=["kwire", pytest.param("kafka", marks=pytest.mark.jvm)])
def broker(request: pytest.FixtureRequest) -> BrokerProcess:
    """Both brokers in turn: what holds for one must hold for the other."""
    running = request.getfixturevalue(f"{request.param}_broker")
    assert isinstance(running, BrokerProcess)
    return running


@pytest.fixture(params=["kwire", pytest.param("kafka", marks=pytest.mark.jvm)])
def broker_without_auto_creation(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[BrokerProcess]:
    """A broker of this test's own on which topics are made only on demand."""
    start = start_kwire if request.param == "kwire" else start_kafka
    broker = start(tmp_path / "data", {"auto.create.topics.enable": "false"})
    yield broker
    broker.stop()


@pytest.fixture
def topic() -> str:
    """A topic name of this test's own."""
    return f"t-{uuid.uuid4().hex[:12]}"
