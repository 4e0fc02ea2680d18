"""Groups whose members join, leave and crash while records are written."""

from pathlib import Path

import pytest

from compat_tests.faults.membership import Plan, run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "flavour", "is_static"),
    [
        ("confluent", "consumer", False),
        ("confluent", "cooperative", True),
        ("kafka-python", "eager", False),
    ],
)
def test_a_group_survives_its_members(
    client: str, flavour: str, is_static: bool, tmp_path: Path
) -> None:
    plan = Plan(client, flavour, members=4, seconds=4, seed=1, is_static=is_static)
    summary = run(tmp_path / "data", plan)
    # With this seed the first thing that happens is a crash.
    assert summary.crashed > 0
    assert summary.handovers >= plan.members
    assert summary.records > 0
