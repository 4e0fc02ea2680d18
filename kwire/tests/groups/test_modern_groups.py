"""Groups of the new protocol as a shard has them: what they commit, and how they are loaded."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.coordinator.decision import StoredRecord
from kwire.errors import (
    IllegalGeneration,
    KwireError,
    StaleMemberEpoch,
    UnknownMemberId,
)
from kwire.groups.commands import ClassicMemberLate, Commit, OffsetToCommit, RevocationOver
from kwire.groups.groups import Groups
from kwire.groups.modern import ModernGroup
from kwire.groups.modern_groups import ModernGroups
from kwire.tasks import Later
from kwire.tests.groups.stage import GROUP, Stage, stories

DAY_MS = 24 * 60 * 60 * 1000

STORIES = """
# a member commits in its epoch
    topic t 4                          ->
    beat a                             -> 2 t:0,1,2,3
    commit a t/0=5                     -> NONE
    commit a gen=1 t/0=6               -> STALE_MEMBER_EPOCH
    commit a gen=3 t/0=6               -> STALE_MEMBER_EPOCH
    offsets                            -> t/0=5

# a member that is behind commits what it has had since then
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0,1                 -> 3 t:0,1
    commit a gen=2 t/0=5 t/1=6         -> NONE NONE
    commit a gen=2 t/0=7 t/2=8         -> STALE_MEMBER_EPOCH
    offsets                            -> t/0=5 t/1=6
    beat b                             -> 3 t:2,3
    commit b gen=2 t/2=1               -> STALE_MEMBER_EPOCH

# what a member is to give away it may still commit
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a                             -> 2 t:0,1
    member a                           -> unrevoked 2 t:0,1 gives t:2,3
    commit a t/3=7                     -> NONE

# a member must commit by a version that knows its epoch
    topic t 4                          ->
    beat a                             -> 2 t:0,1,2,3
    commit a version=8 t/0=5           -> UNSUPPORTED_VERSION
    commit a version=9 t/0=5           -> NONE

# others commit only while nobody is in the group
    topic t 4                          ->
    beat a                             -> 2 t:0,1,2,3
    commit - gen=-1 t/0=5              -> UNKNOWN_MEMBER_ID
    commit z gen=2 t/0=5               -> UNKNOWN_MEMBER_ID
    beat a epoch=-1                    -> -1
    commit - gen=-1 t/0=5              -> NONE
    commit - gen=2 t/0=5               -> UNKNOWN_MEMBER_ID
    offsets                            -> t/0=5

# a group with members is not deleted
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    commit a t/0=5                     -> NONE
    delete-group                       -> NON_EMPTY_GROUP
    beat a epoch=-1                    -> -1
    delete-group                       -> NONE
    group                              -> none
    offsets                            ->
    reload                             ->
    group                              -> none
    offsets                            ->

# offsets of topics that are read are not deleted
    topic t 2                          ->
    topic u 2                          ->
    beat a                             -> 2 t:0,1
    commit a t/0=5 u/0=6               -> NONE NONE
    delete-offsets t/0 u/0 u/1         -> GROUP_SUBSCRIBED_TO_TOPIC NONE NONE
    offsets                            -> t/0=5

# offsets go with their topic
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    commit a t/0=5                     -> NONE
    forget-topic t                     ->
    offsets                            ->
    group                              -> Stable 2 2
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_groups_of_the_new_protocol_own_offsets_too(story: str) -> None:
    Stage().play(story)


def test_offsets_of_what_nobody_reads_expire_a_day_after_their_commit() -> None:
    stage = Stage(
        offsets_retention_minutes=24 * 60,
        group_consumer_max_session_timeout_ms=2**31 - 1,
        group_consumer_session_timeout_ms=2**31 - 1,
    )
    stage.play(f"""
        topic t 1                       ->
        topic u 1                       ->
        beat a                          -> 2 t:0
        commit a t/0=5 u/0=6            -> NONE NONE
        pass {DAY_MS}                   ->
        offsets                         -> t/0=5
        commit a t/0=7                  -> NONE
        beat a epoch=-1                 -> -1
        pass {DAY_MS - 1}               ->
        offsets                         -> t/0=7
        pass {DAY_MS}                   ->
        offsets                         ->
        group                           -> none
        reload                          ->
        group                           -> none
    """)


@pytest.mark.parametrize(
    ("member_id", "epoch", "refusal"),
    [
        (None, -1, None),
        ("a", 2, None),
        ("a", 1, StaleMemberEpoch),
        ("a", 3, StaleMemberEpoch),
        ("a", -1, StaleMemberEpoch),
        ("z", 2, UnknownMemberId),
        (None, 2, UnknownMemberId),
        ("1", 3, None),
        ("1", 2, IllegalGeneration),
    ],
)
def test_who_may_read_what_a_group_has_committed(
    member_id: str | None, epoch: int, refusal: type[KwireError] | None
) -> None:
    modern = _with_two_members()
    if refusal is None:
        modern.check_fetch(GROUP, member_id, epoch)
    else:
        with pytest.raises(refusal):
            modern.check_fetch(GROUP, member_id, epoch)


def test_whoever_asks_for_another_group_is_not_checked() -> None:
    _with_two_members().check_fetch("other", "z", 9)


@pytest.mark.parametrize(
    ("member_id", "epoch", "refusal"),
    [
        ("", -1, None),
        ("a", 2, None),
        ("a", 1, IllegalGeneration),
        ("z", 2, UnknownMemberId),
        ("1", 2, IllegalGeneration),
    ],
)
def test_who_may_commit_in_a_transaction(
    member_id: str, epoch: int, refusal: type[KwireError] | None
) -> None:
    modern = _with_two_members()
    command = Commit(GROUP, (OffsetToCommit("t", 0, 5),), member_id, epoch)
    if refusal is None:
        modern.check_transactional_commit(modern.groups[GROUP], command)
    else:
        with pytest.raises(refusal):
            modern.check_transactional_commit(modern.groups[GROUP], command)


def _with_two_members() -> ModernGroups:
    stage = Stage()
    stage.play("""
        topic t 1                       ->
        beat a                          -> 2 t:0
        join c version=3                -> 3 range follows nobody
    """)
    return stage.groups.modern


STEPS = [
    "topic t 3",
    "topic t 5",
    "topic u 2",
    "drop u",
    "beat a",
    "beat b",
    "beat s instance=i",
    "beat a topics=t,u",
    "beat b topics=u assignor=range",
    "beat c regex=[tu]",
    "beat a owned=nothing",
    "beat b owned=nothing",
    "beat a epoch=-1",
    "beat b epoch=-1",
    "beat s epoch=-2 instance=i",
    "commit a t/0=1",
    "join d version=3",
    "sync d",
    "heartbeat d",
    "leave d",
    "pass 5000",
    "pass 60000",
    "delete-group",
]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 60))
def test_what_the_log_tells_is_what_is_known(seed: int, length: int) -> None:
    """A shard that reads the log of another one knows the same, whatever happened."""
    chance = random.Random(seed)
    stage = Stage()
    stage.step("topic t 3")
    for _ in range(length):
        step = chance.choice(STEPS)
        if step != "drop u" or "u" in stage.image.topics:
            stage.step(step)
        _check_invariants(stage.groups.modern.groups.get(GROUP))
    replayed = Groups(stage.config, stage.image, lambda: "never")
    for record in stage.journal.records:
        replayed.apply(record)
    assert _known(replayed) == _known(stage.groups)


def _known(groups: Groups) -> object:
    found = groups.modern.groups.get(GROUP)
    if found is None:
        return None
    epochs = (found.epoch, found.assignment_epoch)
    return (epochs, found.topics, found.members, found.targets, found.matches)


def _check_invariants(group: ModernGroup | None) -> None:
    """Nobody has what another one has, and nobody is ahead of the group."""
    if group is None:
        return
    held = [
        one
        for member in group.members.values()
        for one in (*member.assigned, *member.pending_revocation)
    ]
    assert len(held) == len(set(held))
    assert all(not group.is_free(one) for one in held)
    assert all(member.epoch <= group.epoch for member in group.members.values())
    assert group.assignment_epoch <= group.epoch


@pytest.mark.parametrize(
    "late", [RevocationOver(GROUP, "m", 2), ClassicMemberLate(GROUP, "m", "it did not sync")]
)
def test_a_timer_of_a_group_that_is_gone_changes_nothing(
    late: RevocationOver | ClassicMemberLate,
) -> None:
    decision = Stage().groups.decide(late, Later(), now_ms=0)
    assert (decision.records, decision.answers) == ([], [])


def test_a_tombstone_of_a_group_that_is_not_known_is_nothing() -> None:
    stage = Stage()
    stage.step("topic t 1")
    stage.step("beat a")
    for record in stage.journal.records:
        stage.groups.apply(StoredRecord(record.key, None))
    stage.groups.apply(StoredRecord(stage.journal.records[0].key, None))
    assert stage.groups.modern.groups == {}
