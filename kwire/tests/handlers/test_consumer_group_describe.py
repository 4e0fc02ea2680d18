"""ConsumerGroupDescribe: groups of the new protocol as tools show them."""

import pytest

from kwire.codec.messages.consumer_group_describe import (
    ConsumerAssignment,
    ConsumerGroupDescribeRequest,
    DescribedConsumerGroup,
)
from kwire.codec.messages.describe_groups import DescribeGroupsRequest
from kwire.codec.messages.list_groups import ListGroupsRequest
from kwire.codec.messages.offset_fetch import OffsetFetchGroup, OffsetFetchRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.consumers import beat, join
from kwire.tests.handlers.members import GROUP, Member, a_stable_member, find_coordinator
from kwire.tests.handlers.nodes import OpenNode


def _describe(
    node: OpenNode, group_id: str = GROUP, version: int = 1, **fields: object
) -> DescribedConsumerGroup:
    request = ConsumerGroupDescribeRequest(group_ids=[group_id], **fields)  # type: ignore[arg-type]
    (group,) = node.ask(request, version).groups
    assert isinstance(group, DescribedConsumerGroup)
    return group


def _names(assignment: ConsumerAssignment) -> dict[str, list[int]]:
    return {one.topic_name: one.partitions for one in assignment.topic_partitions}


@pytest.fixture
def shared(node: OpenNode) -> OpenNode:
    """A group of two members, of whom the first still has everything."""
    find_coordinator(node)
    node.create("orders", partitions=2)
    join(node, instance_id="i", rack_id="r", server_assignor="range")
    join(node, member_id="n", server_assignor="range")
    return node


@pytest.mark.parametrize("version", [0, 1])
def test_a_group_is_shown_with_what_its_members_have_and_will_have(
    shared: OpenNode, version: int
) -> None:
    beat(shared, instance_id="i")
    group = _describe(shared, version=version)
    assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Reconciling")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (3, 3, "range")
    first, second = group.members
    assert (first.member_id, first.instance_id, first.rack_id) == ("m", "i", "r")
    assert (first.client_id, first.client_host) == ("a-test", "/127.0.0.1")
    assert (first.member_epoch, second.member_epoch) == (2, 3)
    assert first.subscribed_topic_names == ["orders"]
    assert _names(first.assignment) == {"orders": [0, 1]}
    assert _names(first.target_assignment) == {"orders": [0]}
    assert (_names(second.assignment), _names(second.target_assignment)) == ({}, {"orders": [1]})


def test_since_version_1_it_is_told_who_speaks_which_protocol(shared: OpenNode) -> None:
    Member(shared).join()
    assert sorted(one.member_type for one in _describe(shared).members) == [0, 1, 1]
    assert {one.member_type for one in _describe(shared, version=0).members} == {-1}


def test_operations_are_told_where_they_are_asked_for(shared: OpenNode) -> None:
    assert _describe(shared).authorized_operations == -(2**31)
    assert _describe(shared, include_authorized_operations=True).authorized_operations > 0


@pytest.mark.parametrize(
    ("group_id", "code"),
    [
        ("", ErrorCode.INVALID_GROUP_ID),
        ("other", ErrorCode.GROUP_ID_NOT_FOUND),
        (GROUP, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_other_groups_are_not_shown(node: OpenNode, group_id: str, code: ErrorCode) -> None:
    a_stable_member(node)
    group = _describe(node, group_id)
    assert group.error_code == code
    assert group.error_message


def test_classic_tools_see_that_there_is_a_group_of_another_type(shared: OpenNode) -> None:
    (described,) = shared.ask(DescribeGroupsRequest(groups=[GROUP]), 6).groups
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == f"Group {GROUP} is not a classic group."
    (old,) = shared.ask(DescribeGroupsRequest(groups=[GROUP]), 5).groups
    assert (old.error_code, old.group_state) == (ErrorCode.NONE, "Dead")


@pytest.mark.parametrize(
    ("states", "types", "is_listed"),
    [
        ([], [], True),
        (["reconciling"], ["Consumer"], True),
        (["Stable"], [], False),
        ([], ["classic"], False),
    ],
)
def test_a_group_is_listed_with_its_type(
    shared: OpenNode, states: list[str], types: list[str], is_listed: bool
) -> None:
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    listed = [
        (one.group_id, one.protocol_type, one.group_state, one.group_type)
        for one in shared.ask(request, 5).groups
    ]
    assert listed == ([(GROUP, "consumer", "Reconciling", "consumer")] if is_listed else [])


@pytest.mark.parametrize(
    ("member_id", "epoch", "code"),
    [
        (None, -1, ErrorCode.NONE),
        ("m", 2, ErrorCode.NONE),
        ("m", 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("z", 2, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_only_members_that_are_up_to_date_read_offsets(
    shared: OpenNode, member_id: str | None, epoch: int, code: ErrorCode
) -> None:
    asked = OffsetFetchGroup(group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None)
    (group,) = shared.ask(OffsetFetchRequest(groups=[asked]), 9).groups
    assert group.error_code == code
