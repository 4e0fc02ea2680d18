"""Heartbeat: a member tells its coordinator that it is alive, and learns of rebalances."""

from kwire.codec.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import Heartbeat
from kwire.handlers.context import RequestContext
from kwire.tasks import Later


def handle(ctx: RequestContext, request: HeartbeatRequest) -> Later[HeartbeatResponse]:
    command = Heartbeat(
        request.group_id, request.member_id, request.generation_id, request.group_instance_id
    )
    return ctx.node.groups.heartbeat(command).map(_respond)


def refuse(ctx: RequestContext, request: HeartbeatRequest, code: ErrorCode) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)


def _respond(answer: ErrorCode | KwireError) -> HeartbeatResponse:
    code = answer.code if isinstance(answer, KwireError) else answer
    if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        # Sessions start anew once the coordinator is there; nothing is lost until then.
        code = ErrorCode.NONE
    return HeartbeatResponse(error_code=code)
