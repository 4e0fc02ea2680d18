"""One step of one member, in every state."""

import pytest

from kwire.errors import FencedMemberEpoch
from kwire.groups.modern_members import MemberState, ModernMember
from kwire.groups.reconciliation import reconcile
from kwire.tests.groups.words import by_id, by_name

STABLE = MemberState.STABLE
UNREVOKED = MemberState.UNREVOKED_PARTITIONS
UNRELEASED = MemberState.UNRELEASED_PARTITIONS
UNKNOWN = MemberState.UNKNOWN

NONE = "nothing"

# A member of epoch 5 with target epoch 7: its state, what it has and has to give away, its target,
# what it says it owns ("" if nothing), what others have; then state, epoch, partitions, to give.
ROWS = [
    # Stable: it keeps what it may, gives away what it must, takes what is free.
    (STABLE, "t:0,1", NONE, "t:0,1", "", NONE, STABLE, 7, "t:0,1", NONE),
    (STABLE, "t:0", NONE, "t:0,1", "", NONE, STABLE, 7, "t:0,1", NONE),
    (STABLE, "t:0", NONE, "t:0,1", "", "t:1", UNRELEASED, 7, "t:0", NONE),
    (STABLE, NONE, NONE, "t:0,1", "", "t:1", UNRELEASED, 7, "t:0", NONE),
    (STABLE, NONE, NONE, NONE, "", NONE, STABLE, 7, NONE, NONE),
    (STABLE, "t:0,1", NONE, "t:0", "", NONE, UNREVOKED, 5, "t:0", "t:1"),
    (STABLE, "t:0,1", NONE, "t:0", "t:0,1", NONE, UNREVOKED, 5, "t:0", "t:1"),
    (STABLE, "t:0,1", NONE, "t:0", "t:0", NONE, STABLE, 7, "t:0", NONE),
    (STABLE, "t:0,1", NONE, "t:0,2", "t:0", "t:2", UNRELEASED, 7, "t:0", NONE),
    (STABLE, "t:0,1", NONE, "t:2", "", NONE, UNREVOKED, 5, NONE, "t:0,1"),
    (STABLE, "t:0", NONE, NONE, NONE, NONE, STABLE, 7, NONE, NONE),
    # Unrevoked: nothing happens until it owns none of it; then it is one epoch further.
    (UNREVOKED, "t:0", "t:1", "t:0", "", NONE, UNREVOKED, 5, "t:0", "t:1"),
    (UNREVOKED, "t:0", "t:1", "t:0", "t:0,1", NONE, UNREVOKED, 5, "t:0", "t:1"),
    (UNREVOKED, "t:0", "t:1", "t:0", "t:1", NONE, UNREVOKED, 5, "t:0", "t:1"),
    (UNREVOKED, "t:0", "t:1", "t:0", "t:0", NONE, STABLE, 7, "t:0", NONE),
    (UNREVOKED, "t:0", "t:1", "t:0,2", "t:0", NONE, STABLE, 7, "t:0,2", NONE),
    (UNREVOKED, "t:0", "t:1", "t:0,2", "t:0", "t:2", UNRELEASED, 7, "t:0", NONE),
    (UNREVOKED, "t:0", "t:1", NONE, "t:0", NONE, UNREVOKED, 6, NONE, "t:0"),
    (UNREVOKED, "t:0", "t:1", NONE, NONE, NONE, STABLE, 7, NONE, NONE),
    # Unreleased: it takes what others have let go of meanwhile.
    (UNRELEASED, "t:0", NONE, "t:0,1", "", "t:1", UNRELEASED, 7, "t:0", NONE),
    (UNRELEASED, "t:0", NONE, "t:0,1", "", NONE, STABLE, 7, "t:0,1", NONE),
    (UNRELEASED, "t:0", NONE, "t:0,1,2", "", "t:2", UNRELEASED, 7, "t:0,1", NONE),
    (UNRELEASED, "t:0", NONE, "t:1", "", "t:1", UNREVOKED, 5, NONE, "t:0"),
    (UNRELEASED, "t:0", NONE, "t:1", NONE, "t:1", UNRELEASED, 7, NONE, NONE),
    # Unknown: whoever owns nothing starts over.
    (UNKNOWN, "t:0", NONE, "t:0", NONE, NONE, STABLE, 7, "t:0", NONE),
    (UNKNOWN, "t:0", NONE, "t:1", NONE, NONE, STABLE, 7, "t:1", NONE),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_step(
    row: tuple[MemberState, str, str, str, str, str, MemberState, int, str, str],
) -> None:
    state, has, gives, target, owned, taken, after_state, epoch, after_has, after_gives = row
    member = _member(state, has, gives)
    others = by_id(taken)
    after = reconcile(
        member,
        target=by_id(target),
        target_epoch=7,
        owned=by_id(owned) if owned else None,
        is_free=lambda one: one not in others,
    )
    assert (after.state, after.epoch) == (after_state, epoch)
    assert by_name(after.assigned) == after_has
    assert by_name(after.pending_revocation) == after_gives


def _member(state: MemberState, has: str, gives: str = NONE, epoch: int = 5) -> ModernMember:
    return ModernMember(
        "m",
        epoch=epoch,
        previous_epoch=epoch - 1,
        state=state,
        assigned=dict.fromkeys(by_id(has), 3),
        pending_revocation=dict.fromkeys(by_id(gives), 3),
    )


def _step(member: ModernMember, target: str, owned: str | None = None) -> ModernMember:
    return reconcile(
        member,
        target=by_id(target),
        target_epoch=7,
        owned=None if owned is None else by_id(owned),
        is_free=lambda one: True,
    )


def test_a_member_that_is_there_does_not_move() -> None:
    member = _member(STABLE, "t:0", epoch=7)
    assert _step(member, "t:0,1") is member


@pytest.mark.parametrize("owned", [None, "t:0"])
def test_a_member_in_an_unknown_state_must_come_back_without_anything(owned: str | None) -> None:
    with pytest.raises(FencedMemberEpoch):
        _step(_member(UNKNOWN, "t:0"), "t:0", owned)


def test_the_epoch_before_is_remembered() -> None:
    assert _step(_member(STABLE, "t:0"), "t:0").previous_epoch == 5


def test_partitions_keep_the_epoch_in_which_they_were_assigned() -> None:
    after = _step(_member(STABLE, "t:0"), "t:0,1")
    assert {one.partition: epoch for one, epoch in after.assigned.items()} == {0: 3, 1: 7}
