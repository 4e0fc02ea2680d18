"""SyncGroup: the leader hands in the assignment; each member waits for its own part."""

from kwire.codec.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kwire.errors import ErrorCode, InconsistentGroupProtocol, KwireError
from kwire.groups.commands import Sync, SyncAnswer
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_PROTOCOL = 5


def handle(ctx: RequestContext, request: SyncGroupRequest) -> Later[SyncGroupResponse]:
    has_protocol = request.protocol_type is not None and request.protocol_name is not None
    if ctx.version >= FIRST_VERSION_WITH_PROTOCOL and not has_protocol:
        raise InconsistentGroupProtocol()
    command = Sync(
        request.group_id,
        request.member_id,
        request.generation_id,
        instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments={one.member_id: bytes(one.assignment) for one in request.assignments},
    )
    return ctx.node.groups.sync(command).map(lambda answer: _respond(ctx, request, answer))


def refuse(ctx: RequestContext, request: SyncGroupRequest, code: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code)


def _respond(
    ctx: RequestContext, request: SyncGroupRequest, answer: SyncAnswer | KwireError
) -> SyncGroupResponse:
    if isinstance(answer, KwireError):
        return refuse(ctx, request, answer.code)
    return SyncGroupResponse(
        error_code=answer.code,
        protocol_type=answer.protocol_type,
        protocol_name=answer.protocol_name,
        assignment=answer.assignment,
    )
