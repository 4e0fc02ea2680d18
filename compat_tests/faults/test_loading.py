"""A broker that comes back says so until it knows its groups again."""

from pathlib import Path

from compat_tests.faults.loading import run


def test_groups_are_refused_until_they_are_known_and_then_have_their_offsets(
    tmp_path: Path,
) -> None:
    summary = run(tmp_path / "data", groups=1000, offsets_per_group=10)
    assert summary.refusals > 0
    assert summary.loaded_s < 3
