"""Heartbeat: staying alive, and learning of rebalances."""

from pathlib import Path

import pytest

from kwire.codec.messages.heartbeat import HeartbeatRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import Member, a_stable_member, find_coordinator
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize("version", range(5))
def test_a_member_of_the_current_generation_is_well(node: OpenNode, version: int) -> None:
    assert a_stable_member(node).heartbeat(version).error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", range(5))
def test_a_member_learns_that_it_must_join_again(node: OpenNode, version: int) -> None:
    member = a_stable_member(node)
    Member(node).join()
    assert member.heartbeat(version).error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_stranger_and_another_generation_are_refused(node: OpenNode) -> None:
    member = a_stable_member(node)
    member.generation = 7
    assert member.heartbeat().error_code == ErrorCode.ILLEGAL_GENERATION
    member.member_id = "stranger"
    assert member.heartbeat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_while_the_coordinator_loads_all_is_well(tmp_path: Path) -> None:
    node = OpenNode(tmp_path)
    member = a_stable_member(node)
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    back = Member(node, member.member_id, member.generation)
    assert back.heartbeat().error_code == ErrorCode.NONE
    back.generation = 9
    assert back.heartbeat().error_code == ErrorCode.NONE
    node.scheduler.end_turn()
    assert back.heartbeat().error_code == ErrorCode.ILLEGAL_GENERATION
    back.generation = member.generation
    assert back.heartbeat().error_code == ErrorCode.NONE
    node.close()


def test_a_group_needs_a_name(node: OpenNode) -> None:
    find_coordinator(node)
    assert node.ask(HeartbeatRequest(group_id=""), 4).error_code == ErrorCode.INVALID_GROUP_ID
