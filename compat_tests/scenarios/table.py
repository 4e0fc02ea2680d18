"""Every module of scenarios. Each public function of such a module is one scenario.

A scenario's name is its function's name read as a sentence.
"""

from collections.abc import Callable
from contextlib import closing
from types import ModuleType

from compat_tests.scenarios.groups import (
    administration,
    committing,
    expiry,
    fetching_offsets,
    finding,
    joining,
    leaving,
    modern,
    modern_from_outside,
    static_members,
    syncing,
)
from compat_tests.scenarios.play import Play, Step
from compat_tests.scenarios.transactions import (
    adding,
    ending,
    idempotence,
    inspecting,
    offsets,
    producer_ids,
    producing,
    reading,
    timing_out,
)

Scenario = Callable[[Play], None]

MODULES: tuple[ModuleType, ...] = (
    finding,
    joining,
    syncing,
    leaving,
    static_members,
    expiry,
    committing,
    fetching_offsets,
    administration,
    modern,
    modern_from_outside,
    producer_ids,
    adding,
    ending,
    producing,
    idempotence,
    reading,
    offsets,
    timing_out,
    inspecting,
)


def stem_of(module: ModuleType) -> str:
    """`groups.joining`, which names the module's recording too."""
    return ".".join(module.__name__.split(".")[-2:])


def scenarios_of(module: ModuleType) -> dict[str, Scenario]:
    return {
        name.replace("_", " "): value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }


def run(scenario: Scenario, address: str) -> list[Step]:
    with closing(Play(address)) as play:
        scenario(play)
    return play.steps
