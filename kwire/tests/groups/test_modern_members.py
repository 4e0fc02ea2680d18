"""Members of the new protocol as values, and as the log tells them."""

import pytest

from kwire.codec.internal.consumer_group_member import AssignedPartitions, AssignmentValue
from kwire.groups.members import JoinProtocol
from kwire.groups.modern_members import (
    LEAVES,
    ClassicMember,
    MemberState,
    ModernMember,
    by_topic,
    from_topics,
)
from kwire.tests.groups.words import by_id, by_name, topic_id

FULL = ModernMember(
    "m",
    instance_id="i",
    rack_id="r",
    client_id="c",
    client_host="/h",
    topics=frozenset({"t", "u"}),
    regex="x.*",
    rebalance_timeout_ms=1000,
    assignor="range",
    classic=ClassicMember(9000, (JoinProtocol("range", b"xy"), JoinProtocol("sticky", b""))),
    epoch=5,
    previous_epoch=4,
    state=MemberState.UNREVOKED_PARTITIONS,
    assigned={one: 3 + one.partition for one in by_id("t:0,1+u:2")},
    pending_revocation=dict.fromkeys(by_id("t:2"), 4),
)


@pytest.mark.parametrize("member", [FULL, ModernMember("m")], ids=["full", "new"])
def test_two_records_tell_all_of_a_member(member: ModernMember) -> None:
    told = ModernMember("m").with_wishes(member.describe())
    assert told.with_assignment(member.describe_assignment()) == member


def test_a_member_whose_assignment_is_deleted_has_left() -> None:
    gone = FULL.with_assignment(None)
    assert (gone.epoch, gone.assigned, gone.pending_revocation) == (LEAVES, {}, {})


@pytest.mark.parametrize(
    ("number", "state"),
    [
        (0, MemberState.STABLE),
        (1, MemberState.UNREVOKED_PARTITIONS),
        (2, MemberState.UNRELEASED_PARTITIONS),
        (127, MemberState.UNKNOWN),
    ],
)
def test_states_have_kafkas_numbers(number: int, state: MemberState) -> None:
    assert FULL.with_assignment(AssignmentValue(state=number)).state is state


def test_a_state_of_a_newer_broker_is_unknown() -> None:
    assert FULL.with_assignment(AssignmentValue(state=9)).state is MemberState.UNKNOWN


def test_partitions_of_an_older_broker_were_assigned_in_the_members_epoch() -> None:
    stored = AssignmentValue(
        member_epoch=8,
        assigned_partitions=[AssignedPartitions(topic_id=topic_id("t"), partitions=[0])],
    )
    assert list(FULL.with_assignment(stored).assigned.values()) == [8]


def test_partitions_are_grouped_by_topic_and_back() -> None:
    partitions = by_id("t:2,0+u:1")
    grouped = by_topic(partitions)
    assert [(one.topic_id, one.partitions) for one in grouped] == [
        (topic_id("t"), [0, 2]),
        (topic_id("u"), [1]),
    ]
    assert by_name(from_topics(grouped)) == "t:0,2 u:1"


@pytest.mark.parametrize(
    ("state", "epoch", "is_there"),
    [
        (MemberState.STABLE, 5, True),
        (MemberState.STABLE, 4, False),
        (MemberState.UNRELEASED_PARTITIONS, 5, False),
    ],
)
def test_a_member_is_there_when_it_is_stable_in_the_targets_epoch(
    state: MemberState, epoch: int, is_there: bool
) -> None:
    assert ModernMember("m", state=state, epoch=epoch).is_reconciled_to(5) == is_there
