"""The checker itself: each broken promise is noticed."""

import pytest

from compat_tests.crash.ledger import Acknowledged, Broken, Ledger, Stored


def _ledger(*values: bytes) -> Ledger:
    ledger = Ledger(partitions=1)
    ledger.extend(0, [Stored(offset, value) for offset, value in enumerate(values)])
    return ledger


def test_kept_promises_are_fine_in_any_order() -> None:
    ledger = _ledger(b"once-0-", b"plain-0-", b"plain-0-")
    ledger.acknowledge([Acknowledged(0, 2, b"plain-0-"), Acknowledged(0, 0, b"once-0-")])
    ledger.check()
    ledger.expect_all_of([b"once-0-"])
    assert ledger.acknowledged == 2


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (Acknowledged(0, 1, b"once-1-"), "is lost"),
        (Acknowledged(0, 0, b"once-1-"), "but there is"),
    ],
)
def test_a_lost_or_moved_record_is_noticed(told: Acknowledged, what: str) -> None:
    ledger = _ledger(b"once-0-")
    ledger.acknowledge([told])
    with pytest.raises(Broken, match=what):
        ledger.check()


def test_a_doubled_record_is_noticed() -> None:
    with pytest.raises(Broken, match="twice"):
        _ledger(b"once-0-", b"once-0-")


def test_a_gap_is_noticed() -> None:
    with pytest.raises(Broken, match="where 0 should be"):
        Ledger(partitions=1).extend(0, [Stored(1, b"once-0-")])


def test_a_record_that_never_came_is_noticed() -> None:
    with pytest.raises(Broken, match="missing"):
        _ledger(b"once-0-").expect_all_of([b"once-0-", b"once-1-"])
