"""kill -9 under load: nothing that was acknowledged is lost, moved or doubled."""

from pathlib import Path

import pytest

from compat_tests.crash.supervisor import Supervisor
from compat_tests.oracle.dump import complaints

KILLS = 12


@pytest.mark.jvm
@pytest.mark.slow
def test_twelve_kills_break_no_promise(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    summary = Supervisor(data_dir, seed=20_26).run(KILLS)
    assert summary.kills == KILLS
    # A run in which nothing happened would prove nothing.
    assert summary.acknowledged > 1000
    assert complaints(data_dir) == []
