"""Members of the classic protocol in a group of the new one: they join, sync and send heartbeats.

A heartbeat tells such a member to join again whenever there is something to do for it: to give
partitions away, or to take others. Its generation is its epoch; each joins and syncs by itself, and
nobody waits for the others.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from kwire.codec.internal.consumer_protocol import (
    PROTOCOL_TYPE,
    FullSubscription,
    read_subscription,
)
from kwire.codec.primitives import MalformedMessage
from kwire.errors import (
    ErrorCode,
    GroupMaxSizeReached,
    IllegalGeneration,
    InconsistentGroupProtocol,
    KwireError,
    UnknownMemberId,
)
from kwire.groups.commands import (
    NO_MEMBER_ID,
    ClassicMemberLate,
    Heartbeat,
    Join,
    JoinAnswer,
    Leave,
    LeavingMember,
    Sync,
    SyncAnswer,
)
from kwire.groups.draft import Draft, join_timer, sync_timer
from kwire.groups.migration import classic_assignment, owned_by_id
from kwire.groups.modern import ModernGroup
from kwire.groups.modern_heartbeat import follow_removal, replace_static, step_on, update_member
from kwire.groups.modern_members import NONE, ClassicMember, MemberState, ModernMember


def join(draft: Draft, command: Join, new_id: Callable[[], str]) -> JoinAnswer:
    """Take a classic member in, or take over what it says."""
    is_new = command.member_id == NO_MEMBER_ID
    member_id = new_id() if is_new else command.member_id
    _check_join(draft, command, member_id)
    if is_new and command.must_know_its_id and command.instance_id is None:
        return JoinAnswer(member_id, code=ErrorCode.MEMBER_ID_REQUIRED)
    return _join(draft, command, _find(draft, command, member_id, is_new))


def _check_join(draft: Draft, command: Join, member_id: str) -> None:
    group = draft.group
    is_full = len(group.members) >= draft.config.group_consumer_max_size
    if is_full and member_id not in group.members:
        raise GroupMaxSizeReached()
    names = {one.name for one in command.protocols}
    if command.protocol_type != PROTOCOL_TYPE or not _supports_one_of(group, names):
        raise InconsistentGroupProtocol()


def _supports_one_of(group: ModernGroup, names: set[str]) -> bool:
    """Whether every classic member knows one of these protocols: the group may be classic again."""
    classic = [one.classic for one in group.members.values() if one.classic is not None]
    supported = Counter(has.name for one in classic for has in one.protocols)
    return any(supported[name] == len(classic) for name in names)


def _find(draft: Draft, command: Join, member_id: str, is_new: bool) -> ModernMember:
    group = draft.group
    if command.instance_id is None:
        return group.members.get(member_id) or ModernMember(member_id)
    if not is_new:
        return group.check(member_id, command.instance_id)
    holder = group.static_member(command.instance_id)
    return ModernMember(member_id) if holder is None else replace_static(draft, holder, member_id)


def _join(draft: Draft, command: Join, before: ModernMember) -> JoinAnswer:
    subscription = _subscription(command)
    member = replace(
        before,
        instance_id=command.instance_id or before.instance_id,
        rack_id=subscription.rack_id or before.rack_id,
        client_id=command.client_id,
        client_host=command.client_host,
        topics=frozenset(subscription.topics),
        rebalance_timeout_ms=command.rebalance_timeout_ms,
        classic=ClassicMember(command.session_timeout_ms, command.protocols),
    )
    update_member(draft, before, member)
    step_on(draft, member.member_id, owned_by_id(subscription.owned_partitions, draft.image))
    after = draft.group.members[member.member_id]
    draft.restart_session(after)
    _expect_sync(draft, after)
    return JoinAnswer(
        after.member_id,
        generation=after.epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=command.protocols[0].name,
    )


def _subscription(command: Join) -> FullSubscription:
    """All protocols of a consumer have the same topics, so the first one is read."""
    try:
        return read_subscription(command.protocols[0].metadata)
    except MalformedMessage:
        raise InconsistentGroupProtocol() from None


def _expect_sync(draft: Draft, member: ModernMember) -> None:
    """After joining comes syncing; a member that does not come is given up."""
    group_id = draft.group.group_id
    draft.group.asked_to_join.discard(member.member_id)
    draft.decision.stop_timer(join_timer(group_id, member.member_id))
    draft.decision.start_timer(
        sync_timer(group_id, member.member_id),
        member.rebalance_timeout_ms,
        ClassicMemberLate(group_id, member.member_id, "it did not sync in time"),
    )


def sync(draft: Draft, command: Sync) -> SyncAnswer:
    """Tell a member what it has; who else is in the group does not matter to it."""
    group = draft.group
    member, classic = _classic_member(group, command.member_id, command.instance_id)
    _check_generation(member, command.generation)
    first = classic.protocols[0]
    if command.protocol_type not in (None, PROTOCOL_TYPE) or command.protocol_name not in (
        None,
        first.name,
    ):
        raise InconsistentGroupProtocol()
    # One that has to give partitions away has joined already, and is told to when it has done so.
    is_behind = group.epoch > member.epoch
    if is_behind and member.state is not MemberState.UNREVOKED_PARTITIONS:
        _ask_to_join(draft, member)
        return SyncAnswer(ErrorCode.REBALANCE_IN_PROGRESS)
    draft.decision.stop_timer(sync_timer(group.group_id, member.member_id))
    draft.restart_session(member)
    return SyncAnswer(
        protocol_type=command.protocol_type,
        protocol_name=command.protocol_name,
        assignment=classic_assignment(member.assigned, first.metadata, draft.image),
    )


def heartbeat(draft: Draft, command: Heartbeat) -> ErrorCode:
    group = draft.group
    member, _ = _classic_member(group, command.member_id, command.instance_id)
    _check_generation(member, command.generation)
    draft.restart_session(member)
    if (
        member.epoch < group.epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not _must_wait(group, member))
    ):
        _ask_to_join(draft, member)
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _must_wait(group: ModernGroup, member: ModernMember) -> bool:
    """Whether something that the member is to have is not free yet."""
    missing = group.targets.get(member.member_id, NONE) - member.assigned.keys()
    return any(not group.is_free(one) for one in missing)


def _ask_to_join(draft: Draft, member: ModernMember) -> None:
    """The time for joining runs from the first time that a member is asked to."""
    group_id = draft.group.group_id
    if member.member_id in draft.group.asked_to_join:
        return
    draft.group.asked_to_join.add(member.member_id)
    draft.decision.start_timer(
        join_timer(group_id, member.member_id),
        member.rebalance_timeout_ms,
        ClassicMemberLate(group_id, member.member_id, "it did not join again in time"),
    )


def leave(draft: Draft, command: Leave) -> list[ErrorCode]:
    """Take members out, one by one; the group changes once for all of them.

    Members of the new protocol can be among them: an administrator does not know who speaks what.
    """
    codes = [_leave(draft, leaving) for leaving in command.members]
    if ErrorCode.NONE in codes:
        follow_removal(draft)
    return codes


def _leave(draft: Draft, leaving: LeavingMember) -> ErrorCode:
    group = draft.group
    try:
        if leaving.instance_id is not None and leaving.member_id == NO_MEMBER_ID:
            holder = group.static_member(leaving.instance_id)
            if holder is None:
                raise UnknownMemberId()
            leaving = leaving._replace(member_id=holder.member_id)
        group.check(leaving.member_id, leaving.instance_id)
    except KwireError as refusal:
        return refusal.code
    draft.remove(leaving.member_id)
    return ErrorCode.NONE


def _classic_member(
    group: ModernGroup, member_id: str, instance_id: str | None
) -> tuple[ModernMember, ClassicMember]:
    member = group.check(member_id, instance_id)
    if member.classic is None:
        raise UnknownMemberId(f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _check_generation(member: ModernMember, generation: int) -> None:
    if member.epoch != generation:
        raise IllegalGeneration()
