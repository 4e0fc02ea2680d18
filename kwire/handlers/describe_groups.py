"""DescribeGroups: state, protocol and members of classic groups."""

from kwire.codec.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kwire.errors import ErrorCode, GroupIdNotFound, KwireError
from kwire.groups.classic import ClassicGroup, GroupState
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import GROUP_OPERATIONS, NOT_ASKED

FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND = 6
DEAD = "Dead"
"""How clients are told of a group that does not exist."""


def handle(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    return DescribeGroupsResponse(
        groups=[_describe(ctx, group_id, operations) for group_id in request.groups]
    )


def refuse(
    ctx: RequestContext, request: DescribeGroupsRequest, code: ErrorCode
) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[DescribedGroup(group_id=group_id, error_code=code) for group_id in request.groups]
    )


def _describe(ctx: RequestContext, group_id: str, operations: int) -> DescribedGroup:
    try:
        group = ctx.node.groups.reading(group_id).find(group_id)
    except GroupIdNotFound as refusal:
        missing = DescribedGroup(group_id=group_id, group_state=DEAD)
        if ctx.version >= FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND:
            missing.error_code = refusal.code
            missing.error_message = refusal.message
        else:
            missing.authorized_operations = operations
        return missing
    except KwireError as refusal:
        return DescribedGroup(group_id=group_id, error_code=refusal.code)
    is_stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_stable else "",
        members=_members(group, is_stable),
        authorized_operations=operations,
    )


def _members(group: ClassicGroup, is_stable: bool) -> list[DescribedGroupMember]:
    """What members said counts only while the group is stable."""
    return [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata_for(group.protocol_name) if is_stable else b"",
            member_assignment=member.assignment,
        )
        for member in group.members
    ]
