"""The members of a group, beyond what stories tell."""

import pytest

from kwire.errors import FencedInstanceId, UnknownMemberId
from kwire.groups.members import JoinProtocol, Member, Members
from kwire.tasks import Later


def _member(member_id: str, *names: str, instance_id: str | None = None) -> Member:
    protocols = tuple(JoinProtocol(name, name.encode()) for name in names or ("range",))
    return Member(member_id, instance_id, "c", "/h", 1, 1, protocols, joining=Later())


def test_all_have_joined_when_whoever_was_missing_is_gone() -> None:
    members = Members()
    for name in "ab":
        members.add(_member(name))
    members.end_join(members["b"])
    seen = [members.have_all_joined]
    members.remove("b")
    seen.append(members.have_all_joined)
    members.remove("a")
    assert seen == [False, True]
    assert members.joining_count == 0


def test_a_protocol_counts_only_while_its_supporters_are_there() -> None:
    members = Members()
    members.add(_member("a", "range", "sticky"))
    members.add(_member("b", "range"))
    assert not members.support_one_of(["sticky"])
    members.remove("b")
    assert members.support_one_of(["sticky"])
    assert members.choose_protocol() == "range"


def test_a_member_that_was_replaced_keeps_its_place_and_its_assignment() -> None:
    members = Members()
    members.add(_member("a", instance_id="i"))
    members.add(_member("b"))
    members["a"].assignment = b"x"
    members.replace("a", "c")
    assert members.leader == "c"
    assert members["c"].assignment == b"x"
    assert members.static_member("i") == "c"
    assert "a" not in members


@pytest.mark.parametrize(
    ("member_id", "instance_id", "refusal"),
    [
        ("a", "i", None),
        ("a", None, None),
        ("b", "i", FencedInstanceId),
        ("a", "j", UnknownMemberId),
        ("b", None, UnknownMemberId),
    ],
)
def test_who_says_to_be_a_member_is_checked(
    member_id: str, instance_id: str | None, refusal: type[Exception] | None
) -> None:
    members = Members()
    members.add(_member("a", instance_id="i"))
    if refusal is None:
        assert members.check(member_id, instance_id) is members["a"]
    else:
        with pytest.raises(refusal):
            members.check(member_id, instance_id)
