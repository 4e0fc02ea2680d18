"""ListGroups: the groups that this broker coordinates, in the states and of the types asked for."""

from kwire.codec.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kwire.errors import ErrorCode
from kwire.groups.classic import ClassicGroup
from kwire.handlers.context import RequestContext

CLASSIC = "classic"


def handle(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    states = {state.strip().lower() for state in request.states_filter}
    types = {name.strip().lower() for name in request.types_filter}
    return ListGroupsResponse(
        groups=[
            _list(group)
            for shard in ctx.node.groups.reading_all()
            for group in shard.groups.values()
            if (not states or group.state.value.lower() in states)
            and (not types or CLASSIC in types)
        ]
    )


def refuse(ctx: RequestContext, request: ListGroupsRequest, code: ErrorCode) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=code)


def _list(group: ClassicGroup) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.value,
        group_type=CLASSIC,
    )
