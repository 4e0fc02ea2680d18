"""A broker to talk to, named by the environment, as a user's shell would have it."""

from collections.abc import Iterator

import pytest

from kwire.cli.cluster import VARIABLE
from kwire.tests.peers.fake_topics import FakeTopics


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTopics]:
    with FakeTopics() as fake:
        monkeypatch.setenv(VARIABLE, fake.bootstrap)
        yield fake
