"""JoinGroup, from the oldest clients to the newest."""

from pathlib import Path

import pytest

from kwire.codec.messages.join_group import JoinGroupProtocol
from kwire.errors import ErrorCode
from kwire.tests.groups.words import subscription
from kwire.tests.handlers.members import GROUP, Member, find_coordinator, join_request
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize("version", range(10))
def test_the_first_member_leads_the_first_generation(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    member = Member(node)
    joined = member.join(version)
    assert not joined.done
    node.scheduler.pass_time(0)
    answer = joined.value
    assert answer is not None
    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, 1)
    assert answer.protocol_name == "range"
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert answer.leader == answer.member_id == member.member_id
    assert member.member_id.startswith("a-test-")
    assert [(one.member_id, one.metadata) for one in answer.members] == [
        (member.member_id, subscription("orders"))
    ]


@pytest.mark.parametrize("version", range(4, 10))
def test_a_new_member_is_told_its_id_first(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    answer = node.ask(join_request(), version)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id
    assert answer.protocol_name == (None if version >= 7 else "")


def test_version_0_has_one_timeout_for_both(node: OpenNode) -> None:
    find_coordinator(node)
    member = Member(node)
    member.join(0)
    node.scheduler.pass_time(0)
    group = node.node.groups.reading(GROUP).find(GROUP)
    stored = group.members[member.member_id]
    assert (stored.session_timeout_ms, stored.rebalance_timeout_ms) == (10_000, 10_000)
    assert (stored.client_id, stored.client_host) == ("a-test", "/127.0.0.1")


def test_a_protocol_that_is_named_twice_counts_as_it_was_first_said(node: OpenNode) -> None:
    find_coordinator(node)
    protocols = [JoinGroupProtocol(name="range", metadata=bytes([at])) for at in (1, 2)]
    joined = node.begin(join_request(protocols=protocols), 3)
    node.scheduler.pass_time(0)
    assert joined.value is not None
    assert [one.metadata for one in joined.value.members] == [b"\1"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "", "session_timeout_ms": 1}, ErrorCode.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"member_id": "stranger"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
@pytest.mark.parametrize("version", [0, 9])
def test_what_cannot_join_is_refused(
    node: OpenNode, fields: dict[str, object], code: ErrorCode, version: int
) -> None:
    find_coordinator(node)
    answer = node.ask(join_request(**fields), version)
    assert (answer.error_code, answer.generation_id) == (code, -1)
    assert answer.member_id == fields.get("member_id", "")


@pytest.mark.parametrize("timeout_ms", [6_000, 1_800_000])
def test_the_bounds_of_session_timeouts_are_allowed(node: OpenNode, timeout_ms: int) -> None:
    find_coordinator(node)
    answer = node.ask(join_request(session_timeout_ms=timeout_ms), 4)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED


def test_without_the_internal_topic_nobody_coordinates(node: OpenNode) -> None:
    answer = node.ask(join_request(member_id="x"), 4)
    assert (answer.error_code, answer.member_id) == (ErrorCode.NOT_COORDINATOR, "")


def test_while_the_coordinator_loads_members_are_put_off(tmp_path: Path) -> None:
    node = OpenNode(tmp_path)
    find_coordinator(node)
    node.ask(join_request(), 4)
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    answer = node.ask(join_request(), 4)
    assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    node.scheduler.end_turn()
    assert node.ask(join_request(), 4).error_code == ErrorCode.MEMBER_ID_REQUIRED
    node.close()
