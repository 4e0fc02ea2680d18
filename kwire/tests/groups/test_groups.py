"""All groups of a shard: commits and their checks, deletion, and what a restart brings back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.internal import group_metadata
from kwire.codec.internal.versioned import Format
from kwire.config.broker import resolve_broker
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import StoredRecord
from kwire.groups.classic import ClassicGroup
from kwire.groups.groups import Groups
from kwire.tests.groups.stage import GROUP, Stage, stories

COMMITS = """
# somebody without a group commits, and so makes one
    commit - t/0=5 t/1=6            -> NONE NONE
    offsets                         -> t/0=5 t/1=6
    state                           -> Empty 0 -
    reload                          ->
    offsets                         -> t/0=5 t/1=6

# a later commit counts, even if it is lower
    commit - t/0=5                  -> NONE
    commit - t/0=3                  -> NONE
    offsets                         -> t/0=3

# a generation of a group that is not there is refused
    commit a t/0=5 id=x gen=1       -> GROUP_ID_NOT_FOUND
    commit a t/0=5 id=x gen=1 version=8 -> ILLEGAL_GENERATION
    state                           -> Dead

# a member commits for its generation
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5                  -> NONE
    commit a t/0=6 gen=0            -> ILLEGAL_GENERATION
    commit a t/0=6 gen=2            -> ILLEGAL_GENERATION
    offsets                         -> t/0=5

# strangers do not commit in a group with members
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit - t/0=5                  -> UNKNOWN_MEMBER_ID
    commit b t/0=5 id=x gen=1       -> UNKNOWN_MEMBER_ID
    commit b t/0=5 id=x             -> UNKNOWN_MEMBER_ID
    commit a t/0=5 instance=i       -> UNKNOWN_MEMBER_ID

# a static member whose place was taken is fenced
    join a instance=i               -> waits
    pass 0                          -> a: 1 range leads i-1
    sync a                          -> nothing
    join b instance=i id=           -> 1 range leads i-2, skips assignment
    commit a t/0=5 instance=i       -> FENCED_INSTANCE_ID
    commit b t/0=5 instance=i       -> NONE

# while members join, the last generation may still commit
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    join b version=3                -> waits
    commit a t/0=5                  -> NONE

# while assignments are waited for, nobody commits
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    commit a t/0=5                  -> REBALANCE_IN_PROGRESS

# whoever commits is alive
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    pass 9000                       ->
    commit a t/0=5                  -> NONE
    pass 9000                       ->
    heartbeat a                     -> NONE

# once a group is empty anybody may commit for it, but not in a generation
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    leave a                         -> NONE
    commit - t/0=7                  -> NONE
    commit a t/0=8                  -> UNKNOWN_MEMBER_ID
    offsets                         -> t/0=7

# a note that is too long is refused, and only that partition
    commit - t/0=5:12345678 t/1=6:123456789 -> NONE OFFSET_METADATA_TOO_LARGE
    offsets                         -> t/0=5

# a commit that the log does not take is not there
    commit - t/0=5                  -> NONE
    refuse-writes NOT_ENOUGH_REPLICAS ->
    commit - t/0=6                  -> COORDINATOR_NOT_AVAILABLE
    offsets                         -> t/0=5

# a commit counts when the log is durable, not before
    commit - t/0=5                  -> NONE
    write-slowly                    ->
    commit - t/0=6                  -> waits
    offsets                         -> t/0=5
    catch-up                        -> -: NONE
    offsets                         -> t/0=6
"""

DELETIONS = """
# an empty group is deleted with its offsets
    commit - t/0=5 u/1=6            -> NONE NONE
    written                         -> t/0=5 u/1=6
    delete-group                    -> NONE
    written                         -> t/0=gone u/1=gone g=gone
    state                           -> Dead
    offsets                         ->

# a group that is not there cannot be deleted
    delete-group                    -> GROUP_ID_NOT_FOUND

# a group with members cannot be deleted
    join a version=3                -> waits
    delete-group                    -> NON_EMPTY_GROUP
    pass 0                          -> a: 1 range leads a-1
    delete-group                    -> NON_EMPTY_GROUP
    sync a                          -> nothing
    delete-group                    -> NON_EMPTY_GROUP
    leave a                         -> NONE
    delete-group                    -> NONE

# a deleted group that is used again starts from the beginning
    commit - t/0=5                  -> NONE
    delete-group                    -> NONE
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    reload                          ->
    offsets                         ->

# offsets are deleted one by one
    commit - t/0=5 t/1=6            -> NONE NONE
    delete-offsets t/1 t/7          -> NONE NONE
    offsets                         -> t/0=5
    reload                          ->
    offsets                         -> t/0=5

# offsets of a group that is not there cannot be deleted
    delete-offsets t/0              -> GROUP_ID_NOT_FOUND

# offsets of topics that members read cannot be deleted
    join a version=3 topics=t       -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5 u/0=6            -> NONE NONE
    delete-offsets t/0 u/0          -> GROUP_SUBSCRIBED_TO_TOPIC NONE
    offsets                         -> t/0=5

# offsets of a group with members of another kind cannot be deleted
    join a version=3 type=connect   -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5                  -> NONE
    delete-offsets t/0              -> NON_EMPTY_GROUP

# what was committed for a topic goes with it
    commit - t/0=5 u/0=6            -> NONE NONE
    forget-topic t                  ->
    offsets                         -> u/0=6
    reload                          ->
    offsets                         -> u/0=6
"""


@pytest.mark.parametrize("story", stories(COMMITS))
def test_offsets_are_committed(story: str) -> None:
    Stage(offset_metadata_max_bytes=8).play(story)


@pytest.mark.parametrize("story", stories(DELETIONS))
def test_groups_and_offsets_are_deleted(story: str) -> None:
    Stage().play(story)


ACTORS = st.sampled_from("abc")
SETTLE = ["join a", "join b", "pass 0", *(f"sync {one} a=x b=y c=z" for one in "abc")]
LINES = st.one_of(
    st.builds("join {} version={}".format, ACTORS, st.sampled_from([3, 9])),
    st.builds("join {0} instance={0} id=".format, ACTORS),
    st.builds("join {} topics={}".format, ACTORS, st.sampled_from(["t", "u"])),
    st.builds("join {} id= version=3 protocols=sticky,range".format, ACTORS),
    st.builds("sync {} a=x b=y c=z".format, ACTORS),
    st.builds("heartbeat {}".format, ACTORS),
    st.builds("leave {}".format, ACTORS),
    st.builds("leave instance={}".format, ACTORS),
    st.builds("commit {} t/0={} u/1=3".format, ACTORS, st.integers(0, 9)),
    st.builds("commit - t/1={} id= gen=-1".format, st.integers(0, 9)),
    st.builds("pass {}".format, st.sampled_from([0, 1, 5_000, 9_000, 60_000, 86_400_000])),
    st.just("settle"),
    st.sampled_from(
        ["delete-group", "delete-offsets t/0", "forget-topic u", "refuse-writes NOT_COORDINATOR"]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=40))
def test_whatever_happened_the_log_brings_back_what_is_stored(lines: list[str]) -> None:
    stage = Stage(offsets_retention_minutes=1440, offsets_retention_check_interval_ms=3_600_000)
    for line in lines:
        for part in SETTLE if line == "settle" else [line]:
            stage.step(part)
    live = stage.groups
    replayed = Groups(resolve_broker({}), ClusterImage(""), lambda: "never")
    for record in stage.journal.records:
        replayed.apply(record)
    assert replayed.offsets.of(GROUP) == live.offsets.of(GROUP)
    assert set(replayed.groups) == set(live.groups)
    for group_id, group in live.groups.items():
        if group.state.value in ("Stable", "Empty"):
            assert _stored(replayed.groups[group_id]) == _stored(group)


def _stored(group: ClassicGroup) -> Any:
    """Everything about a group that must survive."""
    members = {
        member.member_id: (
            member.instance_id,
            member.client_id,
            member.client_host,
            member.session_timeout_ms,
            member.rebalance_timeout_ms,
            member.metadata_for(group.protocol_name),
            member.assignment,
        )
        for member in group.members
    }
    return (
        group.state,
        group.generation,
        group.protocol_type,
        group.protocol_name,
        group.since_ms,
        group.members.leader,
        members,
    )


def test_records_of_other_kinds_of_groups_are_left_alone() -> None:
    groups = Groups(resolve_broker({}), ClusterImage(""), lambda: "never")
    groups.apply(StoredRecord(b"\x00\x0b\x00\x01g", b"\x00\x00"))
    assert groups.groups == {}
    assert groups.modern.groups == {}


def test_a_group_written_by_an_old_broker_is_read() -> None:
    value = group_metadata.GroupMetadataValue(
        protocol_type="consumer",
        generation=7,
        protocol="range",
        leader="m",
        members=[group_metadata.StoredMember(member_id="m", session_timeout=6000)],
    )
    stored = Format(group_metadata.GroupMetadataValue, (0, 4), 4).write(value, 0)
    groups = Groups(resolve_broker({}), ClusterImage(""), lambda: "never")
    groups.apply(StoredRecord(group_metadata.write_key("old"), stored))
    group = groups.groups["old"]
    assert group.members["m"].rebalance_timeout_ms == 6000
    assert group.since_ms == group_metadata.NO_TIMESTAMP
