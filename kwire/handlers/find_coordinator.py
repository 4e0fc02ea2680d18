"""FindCoordinator: which broker coordinates a group, or the transactions of a producer.

The internal topic is made when the first client asks; the answer then waits for it, where Kafka
makes the client ask again.
"""

from enum import IntEnum

from kwire.codec.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kwire.controller.image import NO_LEADER
from kwire.errors import ErrorCode, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_MANY_KEYS = 4
NO_PORT = -1


class KeyType(IntEnum):
    GROUP = 0
    TRANSACTION = 1


def handle(
    ctx: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse | Later[FindCoordinatorResponse]:
    if request.key_type == KeyType.GROUP:
        found = ctx.node.groups.coordinators_of(_keys(ctx, request))
    elif request.key_type == KeyType.TRANSACTION:
        found = ctx.node.transactions.coordinators_of(_keys(ctx, request))
    else:
        # Share groups, too: Kafka answers so where it has no coordinator for them.
        raise InvalidRequest()
    return found.map(lambda leaders: _answer(ctx, request, leaders))


def refuse(
    ctx: RequestContext, request: FindCoordinatorRequest, code: ErrorCode
) -> FindCoordinatorResponse:
    return _respond(ctx, [_nobody(key, code) for key in _keys(ctx, request)])


def _keys(ctx: RequestContext, request: FindCoordinatorRequest) -> list[str]:
    if ctx.version >= FIRST_VERSION_WITH_MANY_KEYS:
        return request.coordinator_keys
    return [request.key]


def _answer(
    ctx: RequestContext, request: FindCoordinatorRequest, leaders: list[int] | KwireError
) -> FindCoordinatorResponse:
    if isinstance(leaders, KwireError):
        return refuse(ctx, request, leaders.code)
    pairs = zip(_keys(ctx, request), leaders, strict=True)
    return _respond(ctx, [_locate(ctx, key, leader) for key, leader in pairs])


def _locate(ctx: RequestContext, key: str, leader: int) -> Coordinator:
    broker = ctx.node.controller.image.brokers.get(leader)
    endpoint = None if broker is None else broker.endpoint(ctx.peer.listener_name)
    if endpoint is None:
        return _nobody(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(key=key, node_id=leader, host=endpoint.host, port=endpoint.port)


def _nobody(key: str, code: ErrorCode) -> Coordinator:
    return Coordinator(key=key, node_id=NO_LEADER, port=NO_PORT, error_code=code)


def _respond(ctx: RequestContext, found: list[Coordinator]) -> FindCoordinatorResponse:
    if ctx.version >= FIRST_VERSION_WITH_MANY_KEYS:
        return FindCoordinatorResponse(coordinators=found)
    (one,) = found
    return FindCoordinatorResponse(
        error_code=one.error_code, node_id=one.node_id, host=one.host, port=one.port
    )
