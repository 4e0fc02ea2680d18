"""A classic group's states, and what its members subscribe to."""

import pytest

from kwire.groups.classic import LEGAL, ClassicGroup, GroupState
from kwire.groups.members import JoinProtocol, Member
from kwire.tests.groups.words import subscription


@pytest.mark.parametrize("before", GroupState)
@pytest.mark.parametrize("after", GroupState)
def test_only_legal_steps_are_taken(before: GroupState, after: GroupState) -> None:
    group = ClassicGroup("g")
    group.state = before
    if after in LEGAL[before]:
        group.move_to(after, 7)
        assert (group.state, group.since_ms) == (after, 7)
    else:
        with pytest.raises(AssertionError):
            group.move_to(after, 7)


def _member(member_id: str, metadata: bytes) -> Member:
    protocols = (JoinProtocol("range", metadata),)
    return Member(member_id, None, "c", "/h", 1, 1, protocols)


def test_a_group_reads_what_any_of_its_members_reads() -> None:
    group = ClassicGroup("g")
    group.protocol_name = "range"
    group.add(_member("a", subscription("t", "u")), "consumer")
    group.add(_member("b", subscription("v")), "consumer")
    assert group.subscribed_topics() == {"t", "u", "v"}
    assert group.subscribed_among({"u", "w"}) == {"u"}


def test_a_subscription_that_cannot_be_read_may_be_to_anything() -> None:
    group = ClassicGroup("g")
    group.protocol_name = "range"
    group.add(_member("a", b"?"), "consumer")
    assert group.subscribed_topics() is None
    assert group.subscribed_among({"t"}) == {"t"}


def test_what_other_kinds_of_groups_read_is_not_known() -> None:
    group = ClassicGroup("g")
    group.protocol_name = "range"
    group.add(_member("a", subscription("t")), "connect")
    assert group.subscribed_among({"t"}) == set()
