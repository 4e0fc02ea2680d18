"""DeleteGroups: groups without members are forgotten, with everything they committed."""

from kwire.codec.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import DeleteGroup
from kwire.handlers.context import RequestContext
from kwire.tasks import Later, all_of


def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> Later[DeleteGroupsResponse]:
    names = list(dict.fromkeys(request.groups_names))
    deleted = all_of([ctx.node.groups.delete_group(DeleteGroup(name)) for name in names])
    return deleted.map(lambda answers: _respond(names, answers))


def refuse(
    ctx: RequestContext, request: DeleteGroupsRequest, code: ErrorCode
) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=name, error_code=code) for name in request.groups_names
        ]
    )


def _respond(names: list[str], answers: list[KwireError | None]) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(
                group_id=name, error_code=ErrorCode.NONE if answer is None else answer.code
            )
            for name, answer in zip(names, answers, strict=True)
        ]
    )
