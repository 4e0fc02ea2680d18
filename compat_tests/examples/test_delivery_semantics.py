"""The examples of docs/how_to/choose_delivery_semantics.md run as they stand, on both brokers."""

import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from compat_tests.oracle.processes import BrokerProcess

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "choose_delivery_semantics.md"
EXPECTED = {
    "at-most-once": "10 records, none twice",
    "at-least-once": "10 records, none lost",
    "exactly-once": "10 invoices, each once",
}


def examples() -> dict[str, str]:
    """Every program of the page, by the group it reads in."""
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return {re.findall(r'"group.id": "([^"]+)"', program)[0]: program for program in programs}


def test_the_page_has_the_three_examples() -> None:
    assert sorted(examples()) == sorted(EXPECTED)


@pytest.mark.parametrize("group", sorted(EXPECTED))
def test_an_example_does_what_it_says(broker: BrokerProcess, group: str) -> None:
    program = examples()[group]
    suffix = uuid.uuid4().hex[:8]
    for name in ("orders", "invoices", "invoices-1", group):
        # Brokers are shared by all tests: each run has topics, groups and ids of its own.
        program = program.replace(f'"{name}"', f'"{name}-{suffix}"')
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "BOOTSTRAP_SERVERS": broker.bootstrap},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == EXPECTED[group]
