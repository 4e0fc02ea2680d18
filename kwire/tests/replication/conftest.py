"""Fixtures of the replication room's tests: a log directory, and a broker's partitions in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.clock import ManualClock
from kwire.config.broker import BrokerConfig
from kwire.log.store import LogStore
from kwire.replication.hosted import Hosted
from kwire.tests.builders import A_TIMESTAMP
from kwire.tests.handlers.nodes import ManualScheduler

NODE_ID = 1


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(A_TIMESTAMP)


@pytest.fixture
def scheduler(clock: ManualClock) -> ManualScheduler:
    return ManualScheduler(clock)


@pytest.fixture
def log_store(tmp_path: Path, clock: ManualClock) -> Iterator[LogStore]:
    opened = LogStore(tmp_path / "data", clock)
    yield opened
    opened.close()


@pytest.fixture
def hosted(log_store: LogStore) -> Hosted:
    return Hosted(NODE_ID, log_store, BrokerConfig())
