"""Drafts: what is decided shows at once in a copy, in Kafka's order, and nowhere else."""

from kwire.codec.internal import consumer_group, consumer_group_member
from kwire.codec.internal.versioned import version_of
from kwire.config.broker import resolve_broker
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import Decision
from kwire.groups.draft import Draft
from kwire.groups.modern import ModernGroup
from kwire.groups.modern_members import ModernMember
from kwire.tests.groups.stage import GROUP, Stage

KINDS = {
    consumer_group.GROUP_KEY: "group",
    consumer_group.PARTITION_METADATA_KEY: "topics",
    consumer_group.TARGET_METADATA_KEY: "target epoch",
    consumer_group.REGULAR_EXPRESSION_KEY: "expression",
    consumer_group_member.MEMBER_KEY: "member",
    consumer_group_member.TARGET_KEY: "target",
    consumer_group_member.ASSIGNMENT_KEY: "assignment",
}


def _written(stage: Stage) -> list[str]:
    """What the log got since the last time this was asked."""
    records = [
        KINDS[version_of(one.key)] + ("" if one.value is not None else " gone")
        for one in stage.journal.records
    ]
    stage.journal.records.clear()
    return records


def test_records_are_written_in_kafkas_order() -> None:
    stage = Stage()
    stage.step("topic t 2")
    stage.step("beat a")
    everything = ["member", "topics", "group", "target", "target epoch", "assignment"]
    assert _written(stage) == everything
    stage.step("beat a")
    assert _written(stage) == []
    stage.step("beat b")
    assert _written(stage) == ["member", "group", "target", "target", "target epoch", "assignment"]
    stage.step("beat a epoch=-1")
    assert _written(stage) == ["assignment gone", "target gone", "member gone", "group"]


def test_an_expression_is_stored_with_what_it_matches() -> None:
    stage = Stage()
    stage.step("topic t 2")
    stage.step("beat a regex=t")
    assert _written(stage)[:3] == ["member", "expression", "topics"]
    stage.step("beat a regex=u")
    assert _written(stage)[:3] == ["member", "expression", "expression gone"]


def test_a_group_is_deleted_from_its_members_up() -> None:
    stage = Stage()
    stage.step("topic t 2")
    stage.step("beat a regex=t")
    stage.step("beat a epoch=-1")
    _written(stage)
    stage.step("delete-group")
    assert _written(stage) == ["target epoch gone", "topics gone", "group gone"]


def test_a_draft_leaves_the_group_as_it_is() -> None:
    group = ModernGroup(GROUP)
    draft = _draft(group)
    assert draft.group is group
    draft.store_member(ModernMember("m", topics=frozenset({"t"})))
    draft.bump_epoch()
    assert (len(draft.group.members), draft.group.epoch) == (1, 2)
    assert (len(group.members), group.epoch) == (0, 1)


def test_a_look_that_finds_nothing_new_is_not_repeated() -> None:
    group = ModernGroup(GROUP)
    assert _draft(group).is_outdated
    assert not _draft(group).look_at_topics()
    assert not _draft(group).is_outdated


def test_an_expression_that_only_others_can_read_keeps_what_they_found() -> None:
    """Kafka's expressions know classes that ours do not."""
    group = ModernGroup(GROUP)
    draft = _draft(group)
    draft.store_member(ModernMember("m", regex=r"\p{L}+"))
    group = draft.group
    group.matches[r"\p{L}+"] = frozenset({"t"})
    draft = _draft(group)
    draft.look_at_topics()
    assert draft.group.matches == {r"\p{L}+": frozenset({"t"})}


def _draft(group: ModernGroup) -> Draft:
    return Draft(group, resolve_broker({}), ClusterImage("test"), Decision(), 0)
