"""LeaveGroup: one member up to version 2, many from 3 on."""

import pytest

from kwire.codec.messages.leave_group import (
    LeaveGroupMember,
    LeaveGroupMemberResponse,
    LeaveGroupRequest,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, a_stable_member, find_coordinator
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize("version", range(3))
def test_one_member_leaves(node: OpenNode, version: int) -> None:
    member = a_stable_member(node)
    request = LeaveGroupRequest(group_id=GROUP, member_id=member.member_id)
    assert node.ask(request, version).error_code == ErrorCode.NONE
    assert node.ask(request, version).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(3, 6))
def test_each_of_many_members_is_answered(node: OpenNode, version: int) -> None:
    member = a_stable_member(node)
    leaving = [
        LeaveGroupMember(member_id=member.member_id, reason="done"),
        LeaveGroupMember(member_id="stranger"),
        LeaveGroupMember(member_id="", group_instance_id="nobody"),
    ]
    answer = node.ask(LeaveGroupRequest(group_id=GROUP, members=leaving), version)
    assert answer.error_code == ErrorCode.NONE
    assert answer.members == [
        LeaveGroupMemberResponse(member_id=member.member_id, group_instance_id=None),
        LeaveGroupMemberResponse(
            member_id="stranger",
            group_instance_id=None,
            error_code=ErrorCode.UNKNOWN_MEMBER_ID,
        ),
        LeaveGroupMemberResponse(
            member_id="", group_instance_id="nobody", error_code=ErrorCode.UNKNOWN_MEMBER_ID
        ),
    ]


def test_of_a_group_that_is_not_there_nobody_is_a_member(node: OpenNode) -> None:
    find_coordinator(node)
    old = node.ask(LeaveGroupRequest(group_id=GROUP, member_id="x"), 2)
    assert old.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    members = [LeaveGroupMember(member_id="x")]
    answer = node.ask(LeaveGroupRequest(group_id=GROUP, members=members), 5)
    assert answer.error_code == ErrorCode.NONE
    assert [one.error_code for one in answer.members] == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_a_group_needs_a_name(node: OpenNode) -> None:
    find_coordinator(node)
    members = [LeaveGroupMember(member_id="x")]
    answer = node.ask(LeaveGroupRequest(group_id="", members=members), 5)
    assert (answer.error_code, answer.members) == (ErrorCode.INVALID_GROUP_ID, [])
