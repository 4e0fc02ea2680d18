"""ListGroups: the groups that this broker coordinates, in the states and of the types asked for."""

from collections.abc import Iterator

from kwire.codec.internal.consumer_protocol import PROTOCOL_TYPE
from kwire.codec.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kwire.errors import ErrorCode
from kwire.groups.groups import Groups
from kwire.handlers.context import RequestContext

CLASSIC = "classic"
CONSUMER = "consumer"


def handle(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    states = {state.strip().lower() for state in request.states_filter}
    types = {name.strip().lower() for name in request.types_filter}
    return ListGroupsResponse(
        groups=[
            group
            for shard in ctx.node.groups.reading_all()
            for group in _each(shard)
            if (not states or group.group_state.lower() in states)
            and (not types or group.group_type in types)
        ]
    )


def refuse(ctx: RequestContext, request: ListGroupsRequest, code: ErrorCode) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=code)


def _each(groups: Groups) -> Iterator[ListedGroup]:
    for classic in groups.groups.values():
        yield ListedGroup(
            group_id=classic.group_id,
            protocol_type=classic.protocol_type or "",
            group_state=classic.state.value,
            group_type=CLASSIC,
        )
    for modern in groups.modern.groups.values():
        yield ListedGroup(
            group_id=modern.group_id,
            protocol_type=PROTOCOL_TYPE,
            group_state=modern.state.value,
            group_type=CONSUMER,
        )
