"""Being a member: asking for the assignment, staying alive, and leaving."""

from kwire.codec.internal import group_metadata
from kwire.coordinator.decision import Asker, Decision
from kwire.errors import (
    ErrorCode,
    IllegalGeneration,
    InconsistentGroupProtocol,
    KwireError,
    RebalanceInProgress,
    UnknownMemberId,
)
from kwire.groups.classic import GroupState
from kwire.groups.commands import NO_MEMBER_ID, Heartbeat, Leave, LeavingMember, Sync, SyncAnswer
from kwire.groups.rebalance import Rebalance, sync_timer


def sync(step: Rebalance, command: Sync, asker: Asker) -> None:
    """Answer with the assignment, or keep the asker until the leader has handed it in."""
    group = step.group
    if group.state is GroupState.EMPTY:
        raise UnknownMemberId()
    member = group.members.check(command.member_id, command.instance_id)
    if command.generation != group.generation:
        raise IllegalGeneration()
    if command.protocol_type not in (None, group.protocol_type) or command.protocol_name not in (
        None,
        group.protocol_name,
    ):
        raise InconsistentGroupProtocol()
    if group.state is GroupState.PREPARING_REBALANCE:
        raise RebalanceInProgress()
    group.members.not_synced.discard(member.member_id)
    if not group.members.not_synced:
        step.decision.stop_timer(sync_timer(group.group_id))
    if group.state is GroupState.STABLE:
        answer = SyncAnswer(
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            assignment=member.assignment,
        )
        step.decision.answer(asker, answer)
        return
    member.syncing = asker
    if group.members.leader == member.member_id:
        _store_assignments(step, command)


def _store_assignments(step: Rebalance, command: Sync) -> None:
    """The group is stable as soon as the log has the generation; everybody is told then."""
    group = step.group
    assignments = {
        member.member_id: command.assignments.get(member.member_id, b"") for member in group.members
    }
    stored = group.describe_generation(group.generation, assignments, step.now_ms)
    step.decision.write(
        group_metadata.write_key(group.group_id), group_metadata.write_value(stored)
    )
    waiting = {one.member_id: one.syncing for one in group.members if one.syncing is not None}
    for member_id, asker in waiting.items():
        answer = SyncAnswer(
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            assignment=assignments[member_id],
        )
        step.decision.answer(asker, answer)
        group.members[member_id].syncing = None
        step.restart_session(group.members[member_id])

    def start_over(refusal: KwireError) -> Decision:
        again = Rebalance(group, step.config, Decision(), step.now_ms)
        for member_id, asker in waiting.items():
            group.members[member_id].syncing = asker
        again.cancel_syncs(refusal.code)
        again.start("the log did not take the assignment")
        return again.decision

    step.decision.if_refused = start_over


def heartbeat(step: Rebalance, command: Heartbeat) -> ErrorCode:
    """Prolong a member's session; the answer tells it if it has to join again."""
    group = step.group
    member = group.members.check(command.member_id, command.instance_id)
    if command.generation != group.generation:
        raise IllegalGeneration()
    step.restart_session(member)
    is_over = group.state is GroupState.PREPARING_REBALANCE
    return ErrorCode.REBALANCE_IN_PROGRESS if is_over else ErrorCode.NONE


def leave(step: Rebalance, command: Leave) -> list[ErrorCode]:
    """Take members out, one by one; the group rebalances once for all of them."""
    codes = [_leave(step, leaving) for leaving in command.members]
    left = [
        leaving.member_id or leaving.instance_id or ""
        for leaving, code in zip(command.members, codes, strict=True)
        if code == ErrorCode.NONE
    ]
    if left and step.group.state is not GroupState.EMPTY:
        step.start_or_finish_joining(f"{', '.join(left)} left")
    return codes


def _leave(step: Rebalance, leaving: LeavingMember) -> ErrorCode:
    members = step.group.members
    member_id = leaving.member_id
    if member_id == NO_MEMBER_ID:
        # An administrator knows a static member by its instance id only.
        holder = members.static_member(leaving.instance_id) if leaving.instance_id else None
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = holder
    elif member_id not in members.pending:
        try:
            members.check(member_id, leaving.instance_id)
        except KwireError as refusal:
            return refusal.code
    step.remove(member_id)
    return ErrorCode.NONE
