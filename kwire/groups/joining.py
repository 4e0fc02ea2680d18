"""Joining a group: new members, members that come back, and static ones that changed their id."""

from collections.abc import Callable

from kwire.codec.internal import group_metadata
from kwire.coordinator.decision import Asker
from kwire.errors import ErrorCode, KwireError
from kwire.groups.classic import GroupState
from kwire.groups.commands import NO_MEMBER_ID, Join, JoinAnswer, SessionOver
from kwire.groups.members import Member
from kwire.groups.rebalance import Rebalance, session_timer

NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000
"""A new member has no id to send heartbeats with while it waits; it is given up after this time."""


def join(step: Rebalance, command: Join, asker: Asker, new_id: Callable[[], str]) -> None:
    """Answer, or keep the asker until the next generation starts."""
    group = step.group
    member_id = command.member_id
    if not _has_room(step, member_id):
        group.members.remove(member_id)
        _refuse(step, asker, NO_MEMBER_ID, ErrorCode.GROUP_MAX_SIZE_REACHED)
    elif not group.supports(command.protocol_type, [one.name for one in command.protocols]):
        _refuse(step, asker, member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    elif member_id == NO_MEMBER_ID:
        _join_as_new(step, command, asker, new_id())
    elif member_id in group.members.pending:
        if command.instance_id is not None:
            raise KwireError(f"{member_id} was given to a member that was not static")
        _add(step, command, asker, member_id)
    else:
        _join_again(step, command, asker)


def _has_room(step: Rebalance, member_id: str) -> bool:
    """Those who are in may stay; while a group rebalances, only as many as it may have."""
    group = step.group
    member = group.members.get(member_id)
    if group.state is GroupState.EMPTY:
        return True
    if group.state is GroupState.PREPARING_REBALANCE:
        is_waiting = member is not None and member.joining is not None
        return is_waiting or group.members.joining_count < step.config.group_max_size
    return member is not None or len(group.members) < step.config.group_max_size


def _join_as_new(step: Rebalance, command: Join, asker: Asker, random_id: str) -> None:
    group = step.group
    if command.instance_id is not None:
        member_id = f"{command.instance_id}-{random_id}"
        holder = group.members.static_member(command.instance_id)
        if holder is not None:
            _replace_static(step, command, asker, holder, member_id)
        else:
            _add(step, command, asker, member_id)
        return
    member_id = f"{command.client_id}-{random_id}"
    if not command.must_know_its_id:
        _add(step, command, asker, member_id)
        return
    group.members.pending.add(member_id)
    step.decision.start_timer(
        session_timer(group.group_id, member_id),
        command.session_timeout_ms,
        SessionOver(group.group_id, member_id),
    )
    _refuse(step, asker, member_id, ErrorCode.MEMBER_ID_REQUIRED)


def _add(step: Rebalance, command: Join, asker: Asker, member_id: str) -> None:
    group = step.group
    member = Member(
        member_id,
        command.instance_id,
        command.client_id,
        command.client_host,
        rebalance_timeout_ms=command.rebalance_timeout_ms,
        session_timeout_ms=command.session_timeout_ms,
        protocols=command.protocols,
        is_new=True,
        joining=asker,
    )
    if group.is_first_rebalance:
        group.has_new_member = True
    group.add(member, command.protocol_type)
    step.restart_session(member, NEW_MEMBER_TIMEOUT_MS)
    step.start_or_finish_joining(f"{member_id} joins: {command.reason}")


def _join_again(step: Rebalance, command: Join, asker: Asker) -> None:
    """Rebalance if that can change anything; say where the group stands otherwise."""
    group = step.group
    try:
        member = group.members.check(command.member_id, command.instance_id)
    except KwireError as refusal:
        _refuse(step, asker, command.member_id, refusal.code)
        return
    is_leader = group.members.leader == member.member_id
    # A leader may know of changes that no metadata shows, such as new partitions.
    must_rebalance = (
        group.state is GroupState.PREPARING_REBALANCE
        or member.protocols != command.protocols
        or (group.state is GroupState.STABLE and is_leader)
    )
    if must_rebalance:
        _update(step, member, command, asker)
        step.start_or_finish_joining(f"{member.member_id} joins again: {command.reason}")
    else:
        step.decision.answer(asker, step.joined(member))


def _replace_static(step: Rebalance, command: Join, asker: Asker, old_id: str, new_id: str) -> None:
    """A static member was started anew: it takes its old place, and the old one is fenced."""
    group = step.group
    old_leader = group.members.leader
    _fence(step, group.members[old_id])
    member = group.members.replace(old_id, new_id)
    step.decision.stop_timer(session_timer(group.group_id, old_id))
    _update(step, member, command, asker)
    step.restart_session(member)
    if group.state is GroupState.PREPARING_REBALANCE:
        step.finish_joining_if_complete()
    elif (
        group.state is GroupState.STABLE and group.members.choose_protocol() == group.protocol_name
    ):
        _store_new_id(step, member, command, old_leader)
    else:
        # The leader may have the old id in hand already, and would assign to nobody.
        step.start(f"static member {command.instance_id} came back: {command.reason}")


def _fence(step: Rebalance, member: Member) -> None:
    step.answer_join(member, JoinAnswer(member.member_id, code=ErrorCode.FENCED_INSTANCE_ID))
    step.answer_sync(member, ErrorCode.FENCED_INSTANCE_ID)


def _store_new_id(step: Rebalance, member: Member, command: Join, old_leader: str | None) -> None:
    """Nothing else changes: the generation goes on, and the log learns the member's new id."""
    group = step.group
    assignments = {one.member_id: one.assignment for one in group.members}
    stored = group.describe_generation(group.generation, assignments, step.now_ms)
    step.decision.write(
        group_metadata.write_key(group.group_id), group_metadata.write_value(stored)
    )
    if command.may_skip_assignment:
        is_leader = group.members.leader == member.member_id
        answer = step.joined(member, skips_assignment=is_leader)
    else:
        # A leader that came back must not assign again. Older clients cannot be told so: they are
        # made to believe that the old member leads.
        answer = step.joined(member)._replace(leader=old_leader or NO_MEMBER_ID, members=())
    step.answer_join(member, answer)


def _update(step: Rebalance, member: Member, command: Join, asker: Asker) -> None:
    step.group.members.update(
        member,
        protocols=command.protocols,
        rebalance_timeout_ms=command.rebalance_timeout_ms,
        session_timeout_ms=command.session_timeout_ms,
        joining=asker,
    )


def _refuse(step: Rebalance, asker: Asker, member_id: str, code: ErrorCode) -> None:
    step.decision.answer(asker, JoinAnswer(member_id, code=code))
