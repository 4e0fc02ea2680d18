"""Classic members in groups of the new protocol: they join, sync and beat as they always did."""

import pytest

from kwire.tests.groups.stage import Stage, stories

STORIES = """
# a classic member is told its id first
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c                             -> MEMBER_ID_REQUIRED 1
    join c                             -> 3 range follows nobody
    group                              -> Reconciling 3 3

# an old classic member joins without an id
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody

# each joins and syncs by itself
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    sync c                             -> nothing
    beat m owned=t:2,3                 -> 3 t:2,3
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    join c owned=nothing               -> 3 range follows nobody
    sync c                             -> t:0,1
    group                              -> Stable 3 3

# a classic member is told to join again when it has to give something away
    topic t 3                          ->
    beat m assignor=range              -> 2 t:0,1,2
    join c version=3                   -> 3 range follows nobody
    sync c                             -> nothing
    beat m owned=t:2                   -> 3 t:2
    join c owned=nothing               -> 3 range follows nobody
    sync c                             -> t:0,1
    beat n assignor=range              -> 4 nothing
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    sync c                             -> REBALANCE_IN_PROGRESS
    join c owned=t:0,1                 -> 3 range follows nobody
    sync c                             -> t:0
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    join c owned=t:0                   -> 4 range follows nobody
    sync c                             -> t:0
    heartbeat c                        -> NONE
    beat m                             -> 3 nothing
    beat m owned=nothing               -> 4 t:1

# a classic member whose partitions are not free yet need not join again
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    heartbeat c                        -> NONE
    beat m owned=t:2,3                 -> 3 t:2,3
    heartbeat c                        -> REBALANCE_IN_PROGRESS

# a classic member has no other generation than its epoch
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    sync c gen=2                       -> ILLEGAL_GENERATION
    heartbeat c gen=2                  -> ILLEGAL_GENERATION
    commit c gen=2 t/0=1               -> ILLEGAL_GENERATION
    commit c t/0=1                     -> NONE

# a classic member of another type, or with other protocols, is refused
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    join d version=3 type=connect      -> INCONSISTENT_GROUP_PROTOCOL
    join d version=3 protocols=foo     -> INCONSISTENT_GROUP_PROTOCOL
    join d version=3 protocols=foo,range -> 4 foo follows nobody

# protocols of a sync must be those of the join
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3                   -> 3 range follows nobody
    sync c type=connect                -> INCONSISTENT_GROUP_PROTOCOL
    sync c protocol=foo                -> INCONSISTENT_GROUP_PROTOCOL
    sync c type=consumer protocol=range -> nothing

# a member of the new protocol is none of the classic one
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    heartbeat m                        -> UNKNOWN_MEMBER_ID
    sync m                             -> UNKNOWN_MEMBER_ID
    heartbeat id                       -> UNKNOWN_MEMBER_ID
    sync id                            -> UNKNOWN_MEMBER_ID

# classic members leave, and others can be removed with them
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    beat n                             -> 3 nothing
    join c version=3                   -> 4 range follows nobody
    leave c n x                        -> NONE NONE UNKNOWN_MEMBER_ID
    group                              -> Assigning 5 4
    member n                           -> none

# a static classic member is removed by its instance
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c instance=i                  -> 3 range follows nobody
    leave instance=i                   -> NONE
    leave instance=i                   -> UNKNOWN_MEMBER_ID
    leave instance=j                   -> UNKNOWN_MEMBER_ID
    group                              -> Assigning 4 3

# a static classic member comes back under another id
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    join c instance=i version=3        -> 3 range follows nobody
    join d instance=i version=3        -> 3 range follows nobody
    heartbeat c instance=i             -> FENCED_INSTANCE_ID
    sync d instance=i                  -> nothing

# a static member may come back by the other protocol
    topic t 4                          ->
    beat m assignor=range              -> 2 t:0,1,2,3
    beat s instance=i assignor=range   -> 3 nothing
    join c instance=i                  -> 3 range follows nobody
    beat s epoch=3 instance=i          -> FENCED_INSTANCE_ID
    beat r instance=i assignor=range   -> 3 nothing
    heartbeat c instance=i             -> FENCED_INSTANCE_ID
    group                              -> Reconciling 3 3

# a classic member that does not sync in time is removed
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3 session=30000 rebalance=20000 -> 3 range follows nobody
    pass 10000                         ->
    heartbeat c                        -> NONE
    pass 9999                          ->
    group                              -> Reconciling 3 3
    pass 1                             ->
    group                              -> Assigning 4 3

# a classic member that does not join again in time is removed
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3 session=30000 rebalance=20000 -> 3 range follows nobody
    sync c                             -> nothing
    beat n                             -> 4 nothing
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    pass 10000                         ->
    heartbeat c                        -> REBALANCE_IN_PROGRESS
    pass 10000                         ->
    heartbeat c                        -> UNKNOWN_MEMBER_ID
    member n                           -> unreleased 4 nothing

# a classic member has the session that it asked for
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3 session=7000      -> 3 range follows nobody
    sync c                             -> nothing
    pass 6999                          ->
    group                              -> Reconciling 3 3
    pass 1                             ->
    group                              -> Assigning 4 3

# a classic member keeps its session after a restart
    topic t 4                          ->
    beat m                             -> 2 t:0,1,2,3
    join c version=3 session=7000      -> 3 range follows nobody
    sync c                             -> nothing
    reload                             ->
    pass 7000                          ->
    group                              -> Assigning 4 3
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_classic_members_are_served_beside_others(story: str) -> None:
    Stage().play(story)
