"""SyncGroup: each member gets its part of the assignment."""

from typing import Any

import pytest

from kwire.codec.messages.sync_group import SyncGroupRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, Member, a_stable_member
from kwire.tests.handlers.nodes import OpenNode


def _request(member: Member, **fields: object) -> SyncGroupRequest:
    given: dict[str, Any] = {
        "group_id": GROUP,
        "member_id": member.member_id,
        "generation_id": member.generation,
        "protocol_type": "consumer",
        "protocol_name": "range",
    }
    return SyncGroupRequest(**{**given, **fields})


@pytest.mark.parametrize("version", range(6))
def test_a_member_is_told_its_assignment(node: OpenNode, version: int) -> None:
    answer = node.ask(_request(a_stable_member(node)), version)
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"assigned")
    expected = ("consumer", "range") if version >= 5 else (None, None)
    assert (answer.protocol_type, answer.protocol_name) == expected


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "stranger"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": 9}, ErrorCode.ILLEGAL_GENERATION),
        ({"protocol_type": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_what_does_not_fit_is_refused(
    node: OpenNode, fields: dict[str, object], code: ErrorCode
) -> None:
    answer = node.ask(_request(a_stable_member(node), **fields), 5)
    assert (answer.error_code, answer.assignment) == (code, b"")


def test_a_follower_waits_for_the_leader(node: OpenNode) -> None:
    first = a_stable_member(node)
    second = Member(node)
    second.join()
    first.join()
    waiting = second.sync()
    assert not waiting.done
    first.sync()
    assert waiting.value is not None
    assert waiting.value.error_code == ErrorCode.NONE
