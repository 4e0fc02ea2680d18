"""What members tell is judged as it should be."""

import json

import pytest

from compat_tests.crash.ledger import Broken
from compat_tests.faults.tales import Spell, Tales


def _owned(*said: tuple[str, float, str]) -> Tales:
    """A tale about partition 0: who said what, and when."""
    tales = Tales(partitions=1)
    for member, at_ms, name in said:
        event = {"name": name, "timestamp": at_ms, "partitions": [{"partition": 0}]}
        tales.hear(member, json.dumps(event))
    return tales


def _read(*pieces: tuple[int, int]) -> Tales:
    tales = Tales(partitions=1)
    read = [{"partition": 0, "minOffset": first, "maxOffset": last} for first, last in pieces]
    tales.hear("a", json.dumps({"name": "records_consumed", "timestamp": 0, "partitions": read}))
    return tales


def test_a_partition_that_is_handed_over_has_one_owner() -> None:
    tales = _owned(
        ("a", 1, "partitions_assigned"),
        ("a", 2, "partitions_revoked"),
        ("b", 2, "partitions_assigned"),
    )
    tales.expect_one_owner_at_a_time()
    assert tales.spells == [[Spell(1, 2, "a", was_lost=False)]]


def test_two_owners_at_once_are_noticed() -> None:
    tales = _owned(
        ("a", 1, "partitions_assigned"),
        ("b", 2, "partitions_assigned"),
        ("a", 3, "partitions_revoked"),
    )
    with pytest.raises(Broken, match="partition 0 is owned twice"):
        tales.expect_one_owner_at_a_time()


def test_an_owner_that_never_gave_back_is_noticed() -> None:
    tales = _owned(("a", 1, "partitions_assigned"), ("b", 2, "partitions_assigned"))
    with pytest.raises(Broken, match="owned twice"):
        tales.expect_one_owner_at_a_time()


def test_an_expelled_member_may_learn_of_it_late() -> None:
    _owned(
        ("a", 1, "partitions_assigned"),
        ("b", 2, "partitions_assigned"),
        ("a", 3, "partitions_lost"),
    ).expect_one_owner_at_a_time()


def test_a_dead_member_owns_nothing() -> None:
    tales = _owned(("a", 1, "partitions_assigned"))
    tales.end("a", 2)
    tales.hear("b", '{"name":"partitions_assigned","timestamp":3,"partitions":[{"partition":0}]}')
    tales.expect_one_owner_at_a_time()


def test_leaving_ends_what_is_owned() -> None:
    _owned(
        ("a", 1, "partitions_assigned"), ("a", 2, "leaving"), ("b", 3, "partitions_assigned")
    ).expect_one_owner_at_a_time()


def test_records_may_be_read_in_any_order_and_twice() -> None:
    _read((5, 9), (0, 6)).expect_all_read([10])


def test_a_record_nobody_read_is_noticed() -> None:
    with pytest.raises(Broken, match="nobody read 5, of 10"):
        _read((0, 4), (6, 9)).expect_all_read([10])


def test_a_commit_that_is_gone_is_noticed() -> None:
    tales = Tales(partitions=1)
    told = {"name": "offsets_committed", "timestamp": 0, "success": True}
    tales.hear("a", json.dumps({**told, "offsets": [{"partition": 0, "offset": 7}]}))
    tales.expect_committed([7])
    with pytest.raises(Broken, match="7 was committed, 6 is there"):
        tales.expect_committed([6])


def test_lines_that_are_no_events_are_kept_for_whoever_looks_for_the_cause() -> None:
    tales = Tales(partitions=1)
    tales.hear("a", "Traceback (most recent call last):")
    tales.hear("a", "[]")
    assert tales.strange_lines == ["a: Traceback (most recent call last):", "a: []"]
