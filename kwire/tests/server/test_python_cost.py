"""The budget of the data path, guarded: see bench/python_cost.py for what is measured."""

import pytest

from bench.python_cost import BUDGET_TURNS, measure

LIMIT_TURNS = 2 * BUDGET_TURNS
"""Generous, since a busy machine also has worse caches; it catches what makes requests dearer."""

ATTEMPTS = 5
ROUNDS = 40


@pytest.mark.parametrize(("name", "version"), [("produce", 9), ("fetch", 12)])
def test_a_small_request_stays_within_its_budget(name: str, version: int) -> None:
    best = float("inf")
    for _ in range(ATTEMPTS):
        (cost,) = measure([(name, version)], rounds=ROUNDS)
        best = min(best, cost.turns)
        if best < LIMIT_TURNS:
            return
    pytest.fail(f"{name} v{version} takes {best:.0f} turns of a loop, at most {LIMIT_TURNS}")
