"""DeleteGroups: each group on its own."""

import pytest

from kwire.codec.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, a_stable_member, commit, find_coordinator
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize("version", range(3))
def test_an_empty_group_is_deleted_and_a_missing_one_is_not(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    node.create("orders")
    commit(node, "orders", 5)
    request = DeleteGroupsRequest(groups_names=[GROUP, "missing", GROUP])
    assert node.ask(request, version).results == [
        DeletableGroupResult(group_id=GROUP),
        DeletableGroupResult(group_id="missing", error_code=ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    assert node.node.groups.reading(GROUP).groups == {}


def test_a_group_with_members_stays(node: OpenNode) -> None:
    a_stable_member(node)
    (result,) = node.ask(DeleteGroupsRequest(groups_names=[GROUP]), 2).results
    assert result.error_code == ErrorCode.NON_EMPTY_GROUP


def test_without_a_coordinator_nothing_is_deleted(node: OpenNode) -> None:
    (result,) = node.ask(DeleteGroupsRequest(groups_names=[GROUP]), 2).results
    assert result.error_code == ErrorCode.NOT_COORDINATOR


def test_asking_for_nothing_is_answered_with_nothing(node: OpenNode) -> None:
    assert node.ask(DeleteGroupsRequest(), 2).results == []
