"""How a member comes from what it has to what it is to have, without stopping others (KIP-848).

              gave away all it had to
        ┌───────────────────────────────────┐
    Unrevoked ◀───────────────────────── Stable ◀──────────────┐
        │        has to give away         ▲  │                 │
        │                                 │  │ not all is free │ all is free
        │           all is free           │  ▼                 │
        └─────────────────────────────────┴─ Unreleased ───────┘

A member stays in its epoch until it has given away what others are to have, and comes into the
target's epoch then. What it is to have and nobody holds is given to it at once; for the rest it
waits in the new epoch. Each step happens in a heartbeat of the member itself.
"""

from collections.abc import Callable
from dataclasses import replace

from kwire.errors import FencedMemberEpoch
from kwire.groups.modern_members import (
    NONE,
    Assigned,
    IdPartition,
    MemberState,
    ModernMember,
    Partitions,
)


def reconcile(
    member: ModernMember,
    *,
    target: Partitions,
    target_epoch: int,
    owned: Partitions | None,
    is_free: Callable[[IdPartition], bool],
) -> ModernMember:
    """The member after one step; the same one if it cannot move on.

    `owned` is what the member says it still has; null if it says that nothing changed.
    """
    if member.state is MemberState.STABLE:
        if member.epoch == target_epoch:
            return member
        epoch = member.epoch
    elif member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_has(owned, member.pending_revocation):
            return member
        epoch = member.epoch + 1
    elif member.state is MemberState.UNRELEASED_PARTITIONS:
        epoch = member.epoch
    else:
        if owned != NONE:
            raise FencedMemberEpoch("The member is in a state that is not known; it must rejoin.")
        epoch = target_epoch
    return _next(member, epoch, target, target_epoch, owned, is_free)


def _next(
    member: ModernMember,
    epoch: int,
    target: Partitions,
    target_epoch: int,
    owned: Partitions | None,
    is_free: Callable[[IdPartition], bool],
) -> ModernMember:
    kept = {one: since for one, since in member.assigned.items() if one in target}
    to_revoke = {one: since for one, since in member.assigned.items() if one not in target}
    if to_revoke and _still_has(owned, to_revoke):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            epoch=epoch,
            assigned=kept,
            pending_revocation=to_revoke,
        )
    missing = target - kept.keys()
    free = dict.fromkeys(filter(is_free, missing), target_epoch)
    is_complete = len(free) == len(missing)
    return replace(
        member,
        state=MemberState.STABLE if is_complete else MemberState.UNRELEASED_PARTITIONS,
        previous_epoch=member.epoch,
        epoch=target_epoch,
        assigned=kept | free,
        pending_revocation={},
    )


def _still_has(owned: Partitions | None, partitions: Assigned) -> bool:
    """Whether the member may still work on these: it may until it says otherwise."""
    return owned is None or not owned.isdisjoint(partitions)
