"""A broker to talk to, named by the environment, as a user's shell would have it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.app import App
from kwire.cli.cluster import VARIABLE
from kwire.config.layered import load
from kwire.tests.peers.fake_topics import FakeTopics


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTopics]:
    """A fake one, which a test can make say anything."""
    with FakeTopics() as fake:
        monkeypatch.setenv(VARIABLE, fake.bootstrap)
        yield fake


@pytest.fixture
def real_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A whole one, in a thread of this process."""
    settings = {"listeners": "PLAINTEXT://localhost:0", "log.dirs": str(tmp_path / "data")}
    app = App(load(flags=settings))
    app.start()
    monkeypatch.setenv(VARIABLE, f"{app.endpoints[0].host}:{app.endpoints[0].port}")
    thread = threading.Thread(target=app.run)
    thread.start()
    try:
        yield app
    finally:
        app.stop_soon()
        thread.join()
        app.close()
