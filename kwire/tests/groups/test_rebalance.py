"""From one generation to the next: who is waited for, for how long, and who is given up."""

import pytest

from kwire.tests.groups.stage import Stage, stories

STABLE = """
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    sync a a=x b=y                  -> x
    sync b                          -> y
"""

STORIES = """
# a silent member is removed, and the others join again
    pass 9999                       ->
    heartbeat a                     -> NONE
    pass 1                          ->
    state                           -> PreparingRebalance 1 range a-1 leader a-1
    join a                          -> 2 range leads a-1

# a group whose members are all silent is empty
    pass 10000                      ->
    state                           -> Empty 2 -

# whoever has not joined in time is out
    join b topics=u session=99000   -> waits
    join a                          -> 2 range leads a-1,b-2; b: 2 range follows a-1
    sync a                          -> nothing
    sync b                          -> nothing
    join a                          -> waits
    pass 59999                      ->
    pass 1                          -> a: 3 range leads a-1
    heartbeat b                     -> UNKNOWN_MEMBER_ID

# the longest rebalance timeout of all counts
    join b topics=u rebalance=90000 -> waits
    pass 9000                       ->
    heartbeat a                     -> REBALANCE_IN_PROGRESS
    pass 9000                       ->
    heartbeat a                     -> REBALANCE_IN_PROGRESS
    state                           -> PreparingRebalance 1 range a-1,b-2 leader a-1
    leave a                         -> NONE; b: 2 range leads b-2

# a member that waits for the others needs no heartbeats
    join a rebalance=60000          -> waits
    pass 9000                       ->
    heartbeat b                     -> REBALANCE_IN_PROGRESS
    pass 9000                       ->
    heartbeat b                     -> REBALANCE_IN_PROGRESS
    join b                          -> 2 range follows a-1; a: 2 range leads a-1,b-2

# whoever does not ask for its assignment is removed
    join b topics=u rebalance=5000  -> waits
    join a rebalance=5000           -> 2 range leads a-1,b-2; b: 2 range follows a-1
    sync a                          -> nothing
    pass 5000                       ->
    state                           -> PreparingRebalance 2 range a-1 leader a-1

# without the leader's assignment all who did not ask are removed
    join b topics=u rebalance=5000  -> waits
    join a rebalance=5000           -> 2 range leads a-1,b-2; b: 2 range follows a-1
    sync b                          -> waits
    pass 5000                       -> b: REBALANCE_IN_PROGRESS
    state                           -> PreparingRebalance 2 range b-2 leader b-2

# somebody new who waits for five minutes is given up
    join a session=900000 rebalance=900000 -> waits
    join b session=900000           -> 2 range follows a-1; a: 2 range leads a-1,b-2
    sync a                          -> nothing
    sync b                          -> nothing
    join c version=3                -> waits
    pass 299999                     ->
    pass 1                          -> c: UNKNOWN_MEMBER_ID
    state                           -> PreparingRebalance 2 range a-1,b-2 leader a-1

# when a coordinator stops, whoever waits to join looks elsewhere
    join a                          -> waits
    close                           -> a: NOT_COORDINATOR a-1
    heartbeat b                     -> NOT_COORDINATOR

# after a restart every member has a whole session to come back
    pass 9000                       ->
    reload                          ->
    pass 9999                       ->
    heartbeat a                     -> NONE
    heartbeat b                     -> NONE
    state                           -> Stable 1 range a-1,b-2 leader a-1
    assigned                        -> a-1=x b-2=y

# after a restart members that are gone are missed
    reload                          ->
    pass 5000                       ->
    heartbeat a                     -> NONE
    pass 5000                       ->
    state                           -> PreparingRebalance 1 range a-1 leader a-1

# after a restart a group is in its last generation that was assigned
    join a                          -> waits
    join b                          -> 2 range follows a-1; a: 2 range leads a-1,b-2
    reload                          ->
    state                           -> Stable 1 range a-1,b-2 leader a-1
    heartbeat a                     -> ILLEGAL_GENERATION
"""

STATIC = """
# a static member may be late for a rebalance
    join a instance=i session=99000 rebalance=20000 -> waits
    join b version=3 session=99000 rebalance=20000 -> waits
    pass 0                          -> a: 1 range leads i-1,b-2; b: 1 range follows i-1
    sync a                          -> nothing
    sync b                          -> nothing
    join b topics=u rebalance=20000 -> waits
    pass 19999                      ->
    pass 1                          -> b: 2 range leads i-1,b-2
    heartbeat a instance=i          -> ILLEGAL_GENERATION
    join a instance=i               -> 2 range follows b-2

# when only static members are left and none is there, their sessions decide
    join a instance=i session=90000 rebalance=20000 -> waits
    join b instance=j session=90000 rebalance=20000 -> waits
    pass 0                          -> a: 1 range leads i-1,j-2; b: 1 range follows i-1
    sync a                          -> nothing
    sync b                          -> nothing
    join c version=3 rebalance=20000 -> waits
    leave c                         -> UNKNOWN_MEMBER_ID
    leave id=c-3                    -> NONE; c: UNKNOWN_MEMBER_ID
    pass 20000                      ->
    state                           -> PreparingRebalance 1 range i-1,j-2 leader i-1
    heartbeat a instance=i          -> REBALANCE_IN_PROGRESS
    pass 70000                      ->
    state                           -> PreparingRebalance 1 range i-1 leader i-1
    pass 20000                      ->
    state                           -> Empty 2 -

# a static member that went away without a word keeps its place for a session
    join a instance=i               -> waits
    pass 0                          -> a: 1 range leads i-1
    sync a a=x                      -> x
    pass 9999                       ->
    state                           -> Stable 1 range i-1 leader i-1
    pass 1                          ->
    state                           -> Empty 2 -
"""

SLOW_LOG = """
# commands take their turn while the log is slow
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    write-slowly                    ->
    sync a a=x                      -> waits
    heartbeat a                     -> waits
    state                           -> CompletingRebalance 1 range a-1 leader a-1
    catch-up                        -> a: NONE; a: x
    state                           -> Stable 1 range a-1 leader a-1

# a session that is prolonged while the log is slow does not end
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a a=x                      -> x
    write-slowly                    ->
    commit a t/0=1                  -> waits
    pass 9000                       ->
    heartbeat a                     -> waits
    pass 2000                       ->
    catch-up                        -> a: NONE; a: NONE
    state                           -> Stable 1 range a-1 leader a-1

# a coordinator that stops while the log is slow answers nobody with success
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    write-slowly                    ->
    commit - t/0=1 gen=-1           -> UNKNOWN_MEMBER_ID
    sync a a=x                      -> waits
    heartbeat a                     -> waits
    close                           -> a: NOT_COORDINATOR
    catch-up                        -> a: NOT_COORDINATOR
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_a_stable_group_rebalances(story: str) -> None:
    Stage().play(STABLE + story)


@pytest.mark.parametrize("story", stories(STATIC))
def test_static_members_are_waited_for_in_another_way(story: str) -> None:
    Stage().play(story)


@pytest.mark.parametrize("story", stories(SLOW_LOG))
def test_a_slow_log_delays_but_changes_nothing(story: str) -> None:
    Stage().play(story)


def test_a_group_that_became_too_large_by_a_setting_rebalances_after_the_restart() -> None:
    before = Stage()
    before.play(STABLE)
    after = Stage(group_max_size=1)
    after.journal.records = before.journal.records
    after.play(
        """
        reload                      ->
        state                       -> PreparingRebalance 1 range a-1,b-2 leader a-1
        join a id=a-1               -> waits
        join b id=b-2               -> GROUP_MAX_SIZE_REACHED
        """
    )
