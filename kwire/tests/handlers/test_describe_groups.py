"""DescribeGroups: state, protocol and members."""

import pytest

from kwire.codec.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from kwire.errors import ErrorCode
from kwire.handlers.selection import GROUP_OPERATIONS
from kwire.tests.groups.words import subscription
from kwire.tests.handlers.members import GROUP, Member, a_stable_member, find_coordinator
from kwire.tests.handlers.nodes import OpenNode

NEWEST = 6


def _describe(node: OpenNode, version: int = NEWEST, *, asks: bool = False) -> DescribedGroup:
    request = DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=asks)
    (described,) = node.ask(request, version).groups
    assert isinstance(described, DescribedGroup)
    return described


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_stable_group_is_described(node: OpenNode, version: int) -> None:
    member = a_stable_member(node)
    described = _describe(node, version)
    assert (described.error_code, described.group_state) == (ErrorCode.NONE, "Stable")
    assert (described.protocol_type, described.protocol_data) == ("consumer", "range")
    (one,) = described.members
    assert (one.member_id, one.client_id, one.client_host) == (
        member.member_id,
        "a-test",
        "/127.0.0.1",
    )
    assert one.member_metadata == subscription("orders")
    assert one.member_assignment == b"assigned"


def test_while_a_group_rebalances_what_its_members_want_is_open(node: OpenNode) -> None:
    a_stable_member(node)
    Member(node).join()
    described = _describe(node)
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert [one.member_metadata for one in described.members] == [b"", b""]


@pytest.mark.parametrize("version", range(NEWEST))
def test_a_group_that_is_not_there_is_dead(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    described = _describe(node, version)
    assert described == DescribedGroup(group_id=GROUP, group_state="Dead")


def test_the_newest_clients_are_told_that_a_group_is_not_there(node: OpenNode) -> None:
    find_coordinator(node)
    described = _describe(node)
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == f"Group {GROUP} not found."


@pytest.mark.parametrize("version", range(3, NEWEST + 1))
def test_operations_are_told_to_those_who_ask(node: OpenNode, version: int) -> None:
    a_stable_member(node)
    assert _describe(node, version, asks=True).authorized_operations == GROUP_OPERATIONS
    assert _describe(node, version).authorized_operations == -(2**31)


def test_without_a_coordinator_the_group_is_refused(node: OpenNode) -> None:
    assert _describe(node).error_code == ErrorCode.NOT_COORDINATOR
