"""Kafka Streams with `exactly_once_v2` over a broker that is killed."""

from pathlib import Path

import pytest

from compat_tests.faults.internal_topics import complaints
from compat_tests.faults.streams import run


@pytest.mark.jvm
@pytest.mark.slow
def test_words_are_counted_once_over_a_kill_of_the_broker(tmp_path: Path) -> None:
    summary = run(tmp_path / "data", lines=300, kills=1)
    assert summary.broker_kills == 1
    assert complaints(tmp_path / "data") == []
