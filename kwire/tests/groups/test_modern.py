"""Groups of the new protocol: what their records make of them."""

import pytest

from kwire.codec.internal import consumer_group, consumer_group_member
from kwire.errors import FencedInstanceId, UnknownMemberId
from kwire.groups.modern import KEY_VERSIONS, ModernGroup, group_of
from kwire.groups.modern_members import ModernMember
from kwire.tests.groups.words import by_id

EVERY_KEY = [
    consumer_group.write_key(consumer_group.GROUP_KEY, "g"),
    consumer_group.write_key(consumer_group.PARTITION_METADATA_KEY, "g"),
    consumer_group.write_key(consumer_group.TARGET_METADATA_KEY, "g"),
    consumer_group.write_regular_expression_key("g", "x"),
    consumer_group_member.write_key(consumer_group_member.MEMBER_KEY, "g", "m"),
    consumer_group_member.write_key(consumer_group_member.TARGET_KEY, "g", "m"),
    consumer_group_member.write_key(consumer_group_member.ASSIGNMENT_KEY, "g", "m"),
]


def test_every_key_names_its_group() -> None:
    assert {group_of(key) for key in EVERY_KEY} == {"g"}
    assert len(EVERY_KEY) == len(KEY_VERSIONS)


@pytest.mark.parametrize("key", EVERY_KEY)
def test_a_tombstone_of_something_unknown_changes_nothing(key: bytes) -> None:
    group = ModernGroup("g")
    group.apply(key, None)
    assert (group.members, group.targets, group.matches, group.topics) == ({}, {}, {}, {})


def _group(*members: ModernMember) -> ModernGroup:
    group = ModernGroup("g")
    for member in members:
        _store(group, member)
    return group


def _store(group: ModernGroup, member: ModernMember) -> None:
    kinds = (consumer_group_member.MEMBER_KEY, consumer_group_member.ASSIGNMENT_KEY)
    wishes, assignment = (
        consumer_group_member.write_key(kind, "g", member.member_id) for kind in kinds
    )
    group.apply(wishes, consumer_group_member.write_member(member.describe()))
    group.apply(assignment, consumer_group_member.write_assignment(member.describe_assignment()))


def test_a_partition_is_free_when_nobody_has_it_or_is_to_give_it_away() -> None:
    p0, p1, p2 = sorted(by_id("t:0,1,2"))
    group = _group(ModernMember("m", assigned={p0: 1}, pending_revocation={p1: 1}))
    assert [group.is_free(one) for one in (p0, p1, p2)] == [False, False, True]
    _store(group, ModernMember("m", assigned={p0: 1}))
    assert group.is_free(p1)


def test_records_in_an_order_that_compaction_made_do_not_free_what_is_held() -> None:
    """The older owner's last record may come after the newer owner's."""
    (p0,) = by_id("t:0")
    group = _group(ModernMember("old", assigned={p0: 1}))
    _store(group, ModernMember("new", assigned={p0: 2}))
    _store(group, ModernMember("old"))
    assert not group.is_free(p0)


def test_a_static_place_follows_its_holder() -> None:
    group = _group(ModernMember("a", instance_id="i"))
    _store(group, ModernMember("b", instance_id="i"))
    group.apply(EVERY_KEY[4].replace(b"m", b"a"), None)
    holder = group.static_member("i")
    assert holder is not None
    assert holder.member_id == "b"
    _store(group, ModernMember("b", instance_id="j"))
    assert group.static_member("i") is None


def test_who_is_a_member() -> None:
    group = _group(ModernMember("a", instance_id="i"), ModernMember("b"))
    assert group.check("a", "i").member_id == "a"
    assert group.check("a", None).member_id == "a"
    for member_id, instance_id, refusal in (
        ("z", None, UnknownMemberId),
        ("a", "j", UnknownMemberId),
        ("b", "i", FencedInstanceId),
    ):
        with pytest.raises(refusal):
            group.check(member_id, instance_id)


def test_a_copy_has_a_life_of_its_own() -> None:
    group = _group(ModernMember("a"))
    other = group.copy()
    _store(other, ModernMember("b", instance_id="i", assigned=dict.fromkeys(by_id("t:0"), 1)))
    assert list(group.members) == ["a"]
    assert group.static_member("i") is None
    assert all(map(group.is_free, by_id("t:0")))
