"""What a member of the new protocol asks for with its heartbeats: to join, to stay, to leave.

One heartbeat does it all: it tells what the member wants and has, and is answered with what the
member is to have. Whatever changes is stored in Kafka's order: the member, the topics, the group's
epoch, the target, and last the member's own assignment.
"""

import logging
from dataclasses import replace
from typing import TypeVar

from kwire.errors import (
    FencedMemberEpoch,
    GroupMaxSizeReached,
    UnreleasedInstanceId,
)
from kwire.groups.commands import (
    ConsumerHeartbeat,
    ConsumerHeartbeatAnswer,
    RevocationOver,
)
from kwire.groups.draft import Draft, revocation_timer
from kwire.groups.migration import may_downgrade
from kwire.groups.modern_members import (
    JOINS,
    LEAVES,
    LEAVES_FOR_NOW,
    NONE,
    MemberState,
    ModernMember,
    Partitions,
)
from kwire.groups.reconciliation import reconcile

T = TypeVar("T")

_log = logging.getLogger(__name__)


def heartbeat(draft: Draft, command: ConsumerHeartbeat, member_id: str) -> ConsumerHeartbeatAnswer:
    """Take over what a member says, and tell it where it stands."""
    _check_room(draft, member_id)
    before = _find(draft, command, member_id)
    update_member(draft, before, _with_wishes(before, command))
    step_on(draft, member_id, command.owned)
    member = draft.group.members[member_id]
    draft.restart_session(member)
    has_changed = before.assigned.keys() != member.assigned.keys()
    return ConsumerHeartbeatAnswer(
        member_id,
        member.epoch,
        draft.config.group_consumer_heartbeat_interval_ms,
        frozenset(member.assigned) if has_changed or command.is_full else None,
    )


def _check_room(draft: Draft, member_id: str) -> None:
    most = draft.config.group_consumer_max_size
    if len(draft.group.members) >= most and member_id not in draft.group.members:
        raise GroupMaxSizeReached(
            f"The consumer group has reached its maximum capacity of {most} members."
        )


def _find(draft: Draft, command: ConsumerHeartbeat, member_id: str) -> ModernMember:
    """The member that speaks: one that is known, a new one, or one that is back."""
    group = draft.group
    if command.member_epoch != JOINS:
        member = group.check(member_id, command.instance_id)
        _check_epoch(member, command.member_epoch, command.owned)
        return member
    if command.instance_id is None:
        known = group.members.get(member_id)
        if known is not None:
            _check_epoch(known, command.member_epoch, command.owned)
        return known or ModernMember(member_id)
    holder = group.static_member(command.instance_id)
    if holder is None:
        return group.members.get(member_id) or ModernMember(member_id)
    if holder.classic is None and not holder.is_away:
        raise UnreleasedInstanceId(
            f"Static member {member_id} with instance id {command.instance_id} cannot join the"
            f" group because the instance id is owned by member {holder.member_id}."
        )
    return replace_static(draft, holder, member_id)


def _check_epoch(member: ModernMember, epoch: int, owned: Partitions | None) -> None:
    """The epoch before is fine too, if the answer that told the new one may have been lost."""
    if epoch == member.epoch:
        return
    is_retry = (
        epoch < member.epoch
        and epoch == member.previous_epoch
        and owned is not None
        and owned <= member.assigned.keys()
    )
    if not is_retry:
        relation = "greater" if epoch > member.epoch else "smaller"
        raise FencedMemberEpoch(
            f"The consumer group member has a {relation} member epoch ({epoch}) than the one known"
            f" by the group coordinator ({member.epoch}). The member must abandon all its"
            " partitions and rejoin."
        )


def replace_static(draft: Draft, holder: ModernMember, member_id: str) -> ModernMember:
    """A static member is back under another id: everything that it had is its own again."""
    member = replace(holder, member_id=member_id, epoch=JOINS, previous_epoch=JOINS)
    target = draft.group.targets.get(holder.member_id, NONE)
    draft.remove(holder.member_id)
    draft.store_member(member)
    draft.store_target(member_id, target)
    draft.store_assignment(member)
    return member


def _with_wishes(member: ModernMember, command: ConsumerHeartbeat) -> ModernMember:
    """What is null in a heartbeat has not changed."""
    return replace(
        member,
        instance_id=_new(command.instance_id, member.instance_id),
        rack_id=_new(command.rack_id, member.rack_id),
        client_id=command.client_id,
        client_host=command.client_host,
        topics=_new(command.topics, member.topics),
        regex=_new(command.regex, member.regex),
        rebalance_timeout_ms=_new(command.rebalance_timeout_ms, member.rebalance_timeout_ms),
        assignor=_new(command.assignor, member.assignor),
        classic=None,
    )


def _new(value: T | None, known: T) -> T:
    return known if value is None else value


def update_member(draft: Draft, before: ModernMember, member: ModernMember) -> None:
    """Store what a member wants now, and what follows from it for the group."""
    if member != before or member.member_id not in draft.group.members:
        draft.store_member(member)
    has_changed = member.subscription != before.subscription
    if has_changed or draft.is_outdated:
        has_changed |= draft.look_at_topics()
    if has_changed:
        draft.bump_epoch()
    if draft.group.epoch > draft.group.assignment_epoch:
        draft.assign()


def step_on(draft: Draft, member_id: str, owned: Partitions | None) -> None:
    """Bring a member one step closer to what it is to have."""
    group = draft.group
    member = group.members[member_id]
    if member.is_reconciled_to(group.assignment_epoch):
        return
    after = reconcile(
        member,
        target=group.targets.get(member_id, NONE),
        target_epoch=group.assignment_epoch,
        owned=owned,
        is_free=group.is_free,
    )
    if after == member:
        return
    draft.store_assignment(after)
    expect_revocation(draft, after)


def expect_revocation(draft: Draft, member: ModernMember) -> None:
    """A member that has to give partitions away must do so in time; a classic one must join."""
    timer = revocation_timer(draft.group.group_id, member.member_id)
    if member.state is MemberState.UNREVOKED_PARTITIONS and member.classic is None:
        over = RevocationOver(draft.group.group_id, member.member_id, member.epoch)
        draft.decision.start_timer(timer, member.rebalance_timeout_ms, over)
    else:
        draft.decision.stop_timer(timer)


def leave(draft: Draft, command: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    """Let a member go: for good, or with its static place kept until its session ends."""
    member = draft.group.check(command.member_id, command.instance_id)
    if command.member_epoch == LEAVES:
        fence(draft, member.member_id, "it left")
    else:
        draft.store_assignment(replace(member, epoch=LEAVES_FOR_NOW, pending_revocation={}))
    return ConsumerHeartbeatAnswer(command.member_id, command.member_epoch)


def fence(draft: Draft, member_id: str, reason: str) -> None:
    """Take a member out that left, or that did not do what it had to in time."""
    group_id = draft.group.group_id
    if member_id not in draft.group.members:
        return
    _log.info("member removed group=%s member=%s: %s", group_id, member_id, reason)
    draft.remove(member_id)
    follow_removal(draft)


def follow_removal(draft: Draft) -> None:
    """The others are assigned anew, unless they are to do that among themselves."""
    if not may_downgrade(draft.group, draft.config):
        draft.look_at_topics()
        draft.bump_epoch()


def end_revocation(draft: Draft, command: RevocationOver) -> None:
    """Whoever has not given away in time what others are to have is taken out."""
    member = draft.group.members.get(command.member_id)
    if (
        member is not None
        and member.epoch == command.member_epoch
        and member.state is MemberState.UNREVOKED_PARTITIONS
    ):
        fence(draft, command.member_id, f"it gave nothing away in epoch {member.epoch}")
