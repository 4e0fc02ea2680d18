"""Fixtures of the handlers' tests: an open node in a directory of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.tests.handlers.nodes import OpenNode


@pytest.fixture
def node(tmp_path: Path) -> Iterator[OpenNode]:
    """A node with every setting at its default."""
    opened = OpenNode(tmp_path / "data")
    yield opened
    opened.close()
