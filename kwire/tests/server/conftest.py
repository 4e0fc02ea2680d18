"""Fixtures of the server's tests: clients that are closed whatever happens."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kwire.server.connection import Answering
from kwire.tests.server.loops import Client

Connect = Callable[..., Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Make connections to a conversation of the test's."""
    clients: list[Client] = []

    def make(conversation: Answering, **options: Any) -> Client:
        clients.append(Client(conversation, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
