"""JoinGroup: a member enters the next generation of its group, and waits until that begins."""

from kwire.codec.messages.join_group import (
    JoinGroupMember,
    JoinGroupRequest,
    JoinGroupResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import NO_MEMBER_ID, Join, JoinAnswer
from kwire.groups.members import JoinProtocol
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_VERSION_WITH_NULL_PROTOCOL = 7
FIRST_VERSION_WITH_SKIPPED_ASSIGNMENT = 9


def handle(ctx: RequestContext, request: JoinGroupRequest) -> Later[JoinGroupResponse]:
    answered = ctx.node.groups.join(_command(ctx, request))
    return answered.map(lambda answer: _respond(ctx, request, answer))


def refuse(ctx: RequestContext, request: JoinGroupRequest, code: ErrorCode) -> JoinGroupResponse:
    return _respond(ctx, request, JoinAnswer(NO_MEMBER_ID, code=code))


def _command(ctx: RequestContext, request: JoinGroupRequest) -> Join:
    has_timeout = ctx.version >= FIRST_VERSION_WITH_REBALANCE_TIMEOUT
    protocols = {one.name: bytes(one.metadata) for one in reversed(request.protocols)}
    names = dict.fromkeys(one.name for one in request.protocols)
    return Join(
        request.group_id,
        request.member_id,
        ctx.client_id or "",
        f"/{ctx.peer.host}",
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms
        ),
        protocol_type=request.protocol_type,
        protocols=tuple(JoinProtocol(name, protocols[name]) for name in names),
        instance_id=request.group_instance_id,
        reason=request.reason or "not provided",
        must_know_its_id=ctx.version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED,
        may_skip_assignment=ctx.version >= FIRST_VERSION_WITH_SKIPPED_ASSIGNMENT,
    )


def _respond(
    ctx: RequestContext, request: JoinGroupRequest, answer: JoinAnswer | KwireError
) -> JoinGroupResponse:
    if isinstance(answer, KwireError):
        return refuse(ctx, request, answer.code)
    protocol_name = answer.protocol_name
    if protocol_name is None and ctx.version < FIRST_VERSION_WITH_NULL_PROTOCOL:
        protocol_name = ""
    return JoinGroupResponse(
        error_code=answer.code,
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name=protocol_name,
        leader=answer.leader,
        skip_assignment=answer.skips_assignment,
        member_id=answer.member_id,
        members=[
            JoinGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata,
            )
            for member in answer.members
        ],
    )
