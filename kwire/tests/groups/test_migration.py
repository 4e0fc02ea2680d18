"""Groups that change their protocol: with nobody in them, and under their members."""

import pytest

from kwire.tests.groups.stage import GROUP, Stage, stories
from kwire.tests.groups.words import unpacked

STORIES = """
# an empty classic group is taken over with its offsets
    topic t 2                          ->
    commit - t/0=5                     -> NONE
    beat a                             -> 2 t:0,1
    group                              -> Stable 2 2
    state                              -> Dead
    offsets                            -> t/0=5
    reload                             ->
    group                              -> Stable 2 2
    state                              -> Dead
    offsets                            -> t/0=5

# an empty group of the new protocol becomes classic with its offsets
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    commit a t/0=5                     -> NONE
    beat a epoch=-1                    -> -1
    join c                             -> MEMBER_ID_REQUIRED c-1
    join c                             -> waits
    pass 0                             -> c: 1 range leads c-1
    group                              -> none
    state                              -> CompletingRebalance 1 range c-1 leader c-1
    offsets                            -> t/0=5
    reload                             ->
    offsets                            -> t/0=5

# a classic group with members is upgraded in place
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=t:0,1,2,3                 -> t:0,1,2,3
    beat m assignor=range              -> 2 nothing
    group                              -> Reconciling 2 2
    state                              -> Dead
    member c                           -> stable 1 t:0,1,2,3
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    join c owned=t:0,1,2,3             -> 1 range follows nobody
    sync c                             -> t:0,1
    join c owned=t:0,1                 -> 2 range follows nobody
    sync c                             -> t:0,1
    beat m                             -> 2 t:2,3
    group                              -> Stable 2 2

# an upgraded group is the same after a restart
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=t:0,1,2,3                 -> t:0,1,2,3
    beat m assignor=range              -> 2 nothing
    reload                             ->
    group                              -> Reconciling 2 2
    member c                           -> stable 1 t:0,1,2,3
    member m                           -> unreleased 2 nothing
    heartbeat c                        -> REBALANCE_IN_PROGRESS

# whoever waits to join an upgraded group is told to join again
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=t:0,1,2,3                 -> t:0,1,2,3
    join d version=3                   -> waits
    beat m                             -> 2 nothing; d: REBALANCE_IN_PROGRESS d-2
    group                              -> Reconciling 2 2

# whoever waits to sync in an upgraded group is told to join again
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    join d version=3                   -> waits
    join c                             -> 2 range leads c-1,d-2; d: 2 range follows c-1
    sync d                             -> waits
    beat m                             -> 3 t:2; d: REBALANCE_IN_PROGRESS
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    heartbeat d                        -> REBALANCE_IN_PROGRESS

# whoever waits in a group that could not be upgraded is told so too
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=t:0,1,2,3                 -> t:0,1,2,3
    join d version=3                   -> waits
    refuse-writes NOT_ENOUGH_REPLICAS  ->
    beat m                          -> COORDINATOR_NOT_AVAILABLE; d: COORDINATOR_NOT_AVAILABLE d-2
    group                              -> none
    state                              -> PreparingRebalance 1 range c-1,d-2 leader c-1
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    join c                             -> waits
    join d                             -> 2 range follows c-1; c: 2 range leads c-1,d-2
    join c                             -> 2 range leads c-1,d-2

# only groups of consumers are upgraded
    topic t 4                          ->
    join c version=3 type=connect      -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=x                         -> x
    beat m                             -> GROUP_ID_NOT_FOUND
    state                              -> Stable 1 range c-1 leader c-1

# an assignment that cannot be read keeps a group classic
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=x                         -> x
    beat m                             -> GROUP_ID_NOT_FOUND
    state                              -> Stable 1 range c-1 leader c-1

# a static classic member is replaced by one of the new protocol
    topic t 2                          ->
    join c instance=i                  -> waits
    pass 0                             -> c: 1 range leads i-1
    sync c instance=i c=t:0,1          -> t:0,1
    beat m instance=i                  -> 1 t:0,1
    group                              -> Stable 1 1
    heartbeat c instance=i             -> FENCED_INSTANCE_ID

# a group without a member of the new protocol becomes classic again
    topic t 4                          ->
    join c version=3                   -> waits
    pass 0                             -> c: 1 range leads c-1
    sync c c=t:0,1,2,3                 -> t:0,1,2,3
    beat m assignor=range              -> 2 nothing
    join c owned=t:0,1                 -> 2 range follows nobody
    beat m                             -> 2 t:2,3
    beat m epoch=-1                    -> -1
    pass 0                             ->
    group                              -> none
    state                              -> PreparingRebalance 2 range c-1 leader c-1
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    join c                             -> 3 range leads c-1

# a group becomes classic again when the last other member is silent
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3 session=60000     -> 3 range follows nobody
    sync c                             -> nothing
    pass 45000                         ->
    group                              -> none
    state                              -> PreparingRebalance 3 range 1 leader 1
    join c                             -> 4 range leads 1

# a group becomes classic again when the last other member is removed
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    sync c                             -> nothing
    leave m                            -> NONE
    pass 0                             ->
    state                              -> PreparingRebalance 3 range 1 leader 1

# a group that is about to become classic again is so after a restart
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    sync c                             -> nothing
    beat m epoch=-1                    -> -1
    reload                             ->
    pass 0                             ->
    group                              -> none
    state                              -> PreparingRebalance 3 range 1 leader 1

# a group does not become classic again when the last member leaves
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    beat m epoch=-1                    -> -1
    pass 0                             ->
    group                              -> Empty 3 2
    state                              -> Dead

# a classic member that takes the last static place makes the group classic
    topic t 2                          ->
    beat m instance=i                  -> 2 t:0,1
    join c instance=i                  -> 2 range follows nobody
    pass 0                             ->
    group                              -> none
    state                              -> Stable 2 range 1 leader 1
    sync c instance=i                  -> t:0,1
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_groups_change_their_protocol(story: str) -> None:
    Stage().play(story)


@pytest.mark.parametrize(
    ("policy", "may_upgrade", "may_downgrade"),
    [
        ("bidirectional", True, True),
        ("upgrade", True, False),
        ("downgrade", False, True),
        ("disabled", False, False),
    ],
)
def test_the_policy_says_which_way_groups_with_members_go(
    policy: str, may_upgrade: bool, may_downgrade: bool
) -> None:
    classic = Stage(group_consumer_migration_policy=policy)
    classic.play("""
        topic t 2                       ->
        join c version=3                -> waits
        pass 0                          -> c: 1 range leads c-1
        sync c c=t:0,1                  -> t:0,1
    """)
    upgraded = classic.step("beat m")
    assert upgraded == ("2 nothing" if may_upgrade else "GROUP_ID_NOT_FOUND")
    modern = Stage(group_consumer_migration_policy=policy)
    modern.play("""
        topic t 2                       ->
        beat m                          -> 2 t:0,1
        join c version=3                -> 3 range follows nobody
        beat m epoch=-1                 -> -1
        pass 0                          ->
    """)
    assert (modern.step("group") == "none") == may_downgrade


def test_a_group_that_becomes_classic_again_keeps_nothing_that_a_member_was_to_give_up() -> None:
    stage = Stage()
    stage.play("""
        topic t 4                       ->
        join c version=3                -> waits
        pass 0                          -> c: 1 range leads c-1
        sync c c=t:0,1,2,3              -> t:0,1,2,3
        beat m assignor=range           -> 2 nothing
        target c                        -> t:0,1
        beat m epoch=-1                 -> -1
        pass 0                          ->
    """)
    (member,) = stage.groups.groups[GROUP].members
    assert unpacked(member.assignment) == "t:0,1"


def test_a_group_that_is_too_large_stays_what_it_is() -> None:
    Stage(group_consumer_max_size=1).play("""
        topic t 2                       ->
        join c version=3                -> waits
        join d version=3                -> waits
        pass 0                          -> c: 1 range leads c-1,d-2; d: 1 range follows c-1
        sync c c=t:0 d=t:1              -> t:0
        beat m                          -> GROUP_ID_NOT_FOUND
    """)
    Stage(group_max_size=1).play("""
        topic t 2                       ->
        beat m                          -> 2 t:0,1
        join c version=3                -> 3 range follows nobody
        join d version=3                -> 4 range follows nobody
        beat m epoch=-1                 -> -1
        pass 0                          ->
        group                           -> Assigning 5 4
    """)
