"""ListGroups: all of them, or those in some states and of some types."""

from pathlib import Path

import pytest

from kwire.codec.messages.list_groups import ListedGroup, ListGroupsRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, a_stable_member, commit, find_coordinator
from kwire.tests.handlers.nodes import OpenNode

NEWEST = 5


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_group_is_listed(node: OpenNode, version: int) -> None:
    a_stable_member(node)
    answer = node.ask(ListGroupsRequest(), version)
    assert answer.error_code == ErrorCode.NONE
    assert answer.groups == [
        ListedGroup(
            group_id=GROUP,
            protocol_type="consumer",
            group_state="Stable" if version >= 4 else "",
            group_type="classic" if version >= 5 else "",
        )
    ]


def test_a_group_that_never_had_members_is_listed(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders")
    commit(node, "orders", 5)
    (listed,) = node.ask(ListGroupsRequest(), NEWEST).groups
    assert (listed.protocol_type, listed.group_state) == ("", "Empty")


@pytest.mark.parametrize(
    ("states", "types", "expected"),
    [
        (["Stable"], [], 1),
        ([" stABLE "], [], 1),
        (["Empty"], [], 0),
        (["Empty", "Stable"], [], 1),
        (["nonsense"], [], 0),
        ([], ["classic"], 1),
        ([], ["Classic", "share"], 1),
        ([], ["consumer"], 0),
        ([], ["nonsense"], 0),
        (["Empty"], ["classic"], 0),
    ],
)
def test_states_and_types_filter(
    node: OpenNode, states: list[str], types: list[str], expected: int
) -> None:
    a_stable_member(node)
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    assert len(node.ask(request, NEWEST).groups) == expected


def test_without_a_coordinator_there_are_no_groups(node: OpenNode) -> None:
    answer = node.ask(ListGroupsRequest(), NEWEST)
    assert (answer.error_code, answer.groups) == (ErrorCode.NONE, [])


def test_while_a_coordinator_loads_nobody_knows_all_groups(tmp_path: Path) -> None:
    node = OpenNode(tmp_path)
    a_stable_member(node)
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    answer = node.ask(ListGroupsRequest(), NEWEST)
    assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    node.scheduler.end_turn()
    assert len(node.ask(ListGroupsRequest(), NEWEST).groups) == 1
    node.close()
