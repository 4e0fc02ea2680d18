"""LeaveGroup: members leave, or are sent away by an administrator."""

from kwire.codec.messages.leave_group import (
    LeaveGroupMember,
    LeaveGroupMemberResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import Leave, LeavingMember
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_MANY_MEMBERS = 3


def handle(ctx: RequestContext, request: LeaveGroupRequest) -> Later[LeaveGroupResponse]:
    members = tuple(
        LeavingMember(one.member_id, one.group_instance_id, one.reason or "not provided")
        for one in _members(ctx, request)
    )
    left = ctx.node.groups.leave(Leave(request.group_id, members))
    return left.map(lambda answer: _respond(ctx, request, answer))


def refuse(ctx: RequestContext, request: LeaveGroupRequest, code: ErrorCode) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code)


def _members(ctx: RequestContext, request: LeaveGroupRequest) -> list[LeaveGroupMember]:
    if ctx.version >= FIRST_VERSION_WITH_MANY_MEMBERS:
        return request.members
    return [LeaveGroupMember(member_id=request.member_id)]


def _respond(
    ctx: RequestContext, request: LeaveGroupRequest, answer: list[ErrorCode] | KwireError
) -> LeaveGroupResponse:
    members = _members(ctx, request)
    if isinstance(answer, KwireError):
        if answer.code != ErrorCode.UNKNOWN_MEMBER_ID:
            return refuse(ctx, request, answer.code)
        # There is no such group, so none of them is in it: each is told so.
        answer = [answer.code] * len(members)
    if ctx.version < FIRST_VERSION_WITH_MANY_MEMBERS:
        return LeaveGroupResponse(error_code=answer[0])
    return LeaveGroupResponse(
        members=[
            LeaveGroupMemberResponse(
                member_id=one.member_id,
                group_instance_id=one.group_instance_id,
                error_code=code,
            )
            for one, code in zip(members, answer, strict=True)
        ]
    )
