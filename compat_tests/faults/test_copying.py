"""Exactly-once copies, made while copiers and broker are killed."""

from pathlib import Path

import pytest

from compat_tests.crash.ledger import Broken
from compat_tests.faults.copying import Plan, compare, originals, run
from compat_tests.faults.internal_topics import complaints
from compat_tests.faults.offsets import Copied

QUICK = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.parametrize("client", ["confluent", "aiokafka"])
def test_a_copy_made_under_kills_is_the_original(client: str, tmp_path: Path) -> None:
    plan = Plan(client, 2000, kills=3, seed=1, transaction_timeout_ms=2000, settings=QUICK)
    summary = run(tmp_path / "data", plan)
    # Both kinds were killed: a run in which only one of them dies would prove less.
    assert 0 < summary.broker_kills < plan.kills
    assert complaints(tmp_path / "data") == []


def test_originals_fill_every_partition_and_keep_keys_together() -> None:
    made = originals(200)
    assert [len(records) for records in made] == [52, 52, 48, 48]
    homes = {(record.key, index) for index, records in enumerate(made) for record in records}
    assert len(homes) == len({key for key, _ in homes})


def test_a_lost_record_is_noticed() -> None:
    with pytest.raises(Broken, match="1 lost"):
        compare(_one("abc"), _one("ab"))


def test_a_doubled_record_is_noticed() -> None:
    with pytest.raises(Broken, match="1 doubled"):
        compare(_one("abc"), _one("abbc"))


def test_records_out_of_order_are_noticed() -> None:
    with pytest.raises(Broken, match=r"0 lost .*differ from record 1 on"):
        compare(_one("abc"), _one("acb"))


def test_a_record_nobody_wrote_is_noticed() -> None:
    with pytest.raises(Broken, match="1 strange"):
        compare(_one("abc"), _one("abcd"))


def test_an_equal_copy_is_fine() -> None:
    compare(_one("abc"), _one("abc"))


def _one(values: str) -> list[list[Copied]]:
    return [[Copied(None, value.encode()) for value in values]]
