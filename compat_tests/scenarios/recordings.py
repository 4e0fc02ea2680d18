"""What Apache Kafka answered, kept in `golden/`: one file for each module of scenarios.

A file is JSON with one line for each step, so that a changed answer is one changed line.
"""

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from compat_tests.scenarios.play import Step

GOLDEN = Path(__file__).with_name("golden")

Recording = dict[str, list[Step]]
"""The steps of every scenario of a module, by the scenario's name."""


def load(stem: str) -> Recording:
    read: dict[str, list[list[Any]]] = json.loads((GOLDEN / f"{stem}.json").read_text())
    return {name: [Step(*pair) for pair in steps] for name, steps in read.items()}


def save(stem: str, recording: Recording) -> None:
    scenarios = []
    for name, steps in recording.items():
        lines = ",\n".join(f"  {json.dumps(step)}" for step in steps)
        scenarios.append(f"{json.dumps(name)}: [\n{lines}\n]")
    (GOLDEN / f"{stem}.json").write_text("{\n" + ",\n".join(scenarios) + "\n}\n")


class Difference(NamedTuple):
    """One field of one answer, with both values as JSON."""

    asked: str
    path: str
    kafka: str
    here: str

    def __str__(self) -> str:
        return f"{self.asked}{self.path}: Kafka {self.kafka}, here {self.here}"


def differences(expected: list[Step], got: list[Step]) -> Iterator[Difference]:
    """Each step and field in which the two differ; steps that were not taken differ as a whole."""
    for before, after in zip_longest(expected, got, fillvalue=Step("no step", "not asked")):
        asked = before.asked if before.asked == after.asked else f"{before.asked}/{after.asked}"
        for path, wanted, found in _fields(before.answer, after.answer, ""):
            yield Difference(asked, path, wanted, found)


def _fields(wanted: Any, found: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            yield from _fields(wanted.get(key, ...), found.get(key, ...), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _fields(one, other, f"{path}[{number}]")
    elif wanted != found:
        yield path, _show(wanted), _show(found)


def _show(value: Any) -> str:
    """As JSON; what has its default is not there at all."""
    return "the default" if value is ... else json.dumps(value)
