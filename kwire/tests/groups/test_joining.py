"""Joining: new members, members that come back, static members, and groups that are full."""

import pytest

from kwire.tests.groups.stage import Stage, stories

STORIES = """
# a new member is told its id first, and joins with it
    join a                          -> MEMBER_ID_REQUIRED a-1
    join a                          -> waits
    pass 0                          -> a: 1 range leads a-1
    state                           -> CompletingRebalance 1 range a-1 leader a-1

# before version 4 a new member joins at once
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1

# the log learns of a group with its first member
    join a                          -> MEMBER_ID_REQUIRED a-1
    written                         -> g=0[]
    state                           -> Empty 0 -

# a static member has its id from the start
    join a instance=i               -> waits
    pass 0                          -> a: 1 range leads i-1

# a member id that nobody was given is refused, and makes no group
    join a id=x                     -> UNKNOWN_MEMBER_ID x
    state                           -> Dead

# a member id that nobody was given is refused in a group that exists
    join a                          -> MEMBER_ID_REQUIRED a-1
    join b id=x                     -> UNKNOWN_MEMBER_ID x

# an id that was handed out is good for one session timeout
    join a session=7000             -> MEMBER_ID_REQUIRED a-1
    pass 7000                       ->
    join a                          -> UNKNOWN_MEMBER_ID a-1

# members who join together are in one generation, and only the leader is told of all
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1

# a second member makes the first one join again
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a a=x                      -> x
    join b version=3                -> waits
    heartbeat a                     -> REBALANCE_IN_PROGRESS
    join a                          -> 2 range leads a-1,b-2; b: 2 range follows a-1

# a rebalance waits for those who were told their id, too
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    join b                          -> MEMBER_ID_REQUIRED b-2
    join a                          -> waits
    join b                          -> 2 range follows a-1; a: 2 range leads a-1,b-2

# a rebalance does not wait for an id that was never used any longer than its session
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    join b session=6000             -> MEMBER_ID_REQUIRED b-2
    join a                          -> waits
    pass 5999                       ->
    pass 1                          -> a: 2 range leads a-1

# a group without a protocol type or protocols cannot be
    join a type=                    -> INCONSISTENT_GROUP_PROTOCOL
    join a protocols=               -> INCONSISTENT_GROUP_PROTOCOL

# a member must share a protocol with all others
    join a version=3 protocols=range -> waits
    pass 0                          -> a: 1 range leads a-1
    join b version=3 protocols=sticky -> INCONSISTENT_GROUP_PROTOCOL
    join a type=connect             -> INCONSISTENT_GROUP_PROTOCOL a-1

# any protocol type will do, if all have the same
    join a version=3 type=connect protocols=sessioned -> waits
    pass 0                          -> a: 1 sessioned leads a-1
    join b version=3 type=consumer protocols=sessioned -> INCONSISTENT_GROUP_PROTOCOL

# the protocol is one that all support, and that most like best
    join a version=3 protocols=sticky,range -> waits
    join b version=3 protocols=range,sticky -> waits
    join c version=3 protocols=new,range,sticky -> waits
    pass 0 -> a: 1 range leads a-1,b-2,c-3; b: 1 range follows a-1; c: 1 range follows a-1

# a member who repeats itself is told where the group stands
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    join a                          -> 1 range leads a-1,b-2
    join b                          -> 1 range follows a-1
    sync a                          -> nothing
    sync b                          -> nothing
    join b                          -> 1 range follows a-1
    state                           -> Stable 1 range a-1,b-2 leader a-1

# a leader who joins again wants a rebalance
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    join a                          -> 2 range leads a-1

# a follower who changes its mind makes all join again
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    sync a                          -> nothing
    join b topics=other             -> waits
    join a                          -> 2 range leads a-1,b-2; b: 2 range follows a-1

# who changes its mind while assignments are waited for makes all join again
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    sync b                          -> waits
    join a topics=other             -> waits; b: REBALANCE_IN_PROGRESS

# a static member that was started anew takes its place without a rebalance
    join a instance=i version=8     -> waits
    pass 0                          -> a: 1 range leads i-1
    sync a a=x                      -> x
    join b instance=i id= version=8 -> 1 range follows i-1
    sync b instance=i               -> x
    heartbeat a instance=i          -> FENCED_INSTANCE_ID
    state                           -> Stable 1 range i-2 leader i-2
    reload                          ->
    state                           -> Stable 1 range i-2 leader i-2

# a static leader that was started anew may be told to skip the assignment
    join a instance=i               -> waits
    pass 0                          -> a: 1 range leads i-1
    sync a a=x                      -> x
    join b instance=i id=           -> 1 range leads i-2, skips assignment

# a static follower that was started anew is a follower still
    join a instance=i               -> waits
    join b instance=j               -> waits
    pass 0                          -> a: 1 range leads i-1,j-2; b: 1 range follows i-1
    sync a b=y                      -> nothing
    join c instance=j id=           -> 1 range follows i-1
    sync c instance=j               -> y

# a static member that comes back with another protocol makes all join again
    join a instance=i protocols=range,sticky -> waits
    pass 0                          -> a: 1 range leads i-1
    sync a                          -> nothing
    join b instance=i id= protocols=sticky,range -> 2 sticky leads i-2

# a static member that comes back while assignments are made makes all join again
    join a instance=i               -> waits
    join b                          -> MEMBER_ID_REQUIRED b-2
    join b                          -> waits
    pass 0                          -> a: 1 range leads i-1,b-2; b: 1 range follows i-1
    sync b                          -> waits
    join c instance=i id=           -> waits; b: REBALANCE_IN_PROGRESS
    join b                          -> 2 range follows i-3; c: 2 range leads b-2,i-3

# who waits is fenced when its static place is taken
    join a instance=i               -> waits
    join b instance=i id=           -> waits; a: FENCED_INSTANCE_ID i-1
    pass 0                          -> b: 1 range leads i-2

# who waits for its assignment is fenced when its static place is taken
    join a instance=i               -> waits
    join b instance=j               -> waits
    pass 0                          -> a: 1 range leads i-1,j-2; b: 1 range follows i-1
    sync b instance=j               -> waits
    join c instance=j id=           -> waits; b: FENCED_INSTANCE_ID

# a static member with an id that was replaced is fenced
    join a instance=i               -> waits
    join b instance=i id=           -> waits; a: FENCED_INSTANCE_ID i-1
    join a instance=i id=i-1        -> FENCED_INSTANCE_ID i-1

# a static place that nobody holds is unknown
    join a version=3                -> waits
    join a id=a-1 instance=i        -> UNKNOWN_MEMBER_ID a-1

# an id that was given to a dynamic member is not for a static one
    join a                          -> MEMBER_ID_REQUIRED a-1
    join a instance=i               -> UNKNOWN_SERVER_ERROR
"""

FULL = """
# a full group takes nobody else
    join a version=3                -> waits
    join b version=3                -> waits
    join c version=3                -> GROUP_MAX_SIZE_REACHED

# a full group that is stable takes nobody else
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    join c version=3                -> GROUP_MAX_SIZE_REACHED

# whoever is in a full group may join again
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
    sync a                          -> nothing
    join a                          -> waits
    join b                          -> 2 range follows a-1; a: 2 range leads a-1,b-2

# a full group hands out ids, but keeps those out who are too many
    join a                          -> MEMBER_ID_REQUIRED a-1
    join b                          -> MEMBER_ID_REQUIRED b-2
    join c                          -> MEMBER_ID_REQUIRED c-3
    join a                          -> waits
    join b                          -> waits
    join c                          -> GROUP_MAX_SIZE_REACHED
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
"""

FIRST_DELAY = """
# a new group waits for more members before its first rebalance
    join a version=3                -> waits
    pass 2999                       ->
    pass 1                          -> a: 1 range leads a-1

# whoever comes meanwhile prolongs the wait
    join a version=3                -> waits
    pass 2000                       ->
    join b version=3                -> waits
    pass 1000                       ->
    pass 3000                       -> a: 1 range leads a-1,b-2; b: 1 range follows a-1

# the wait is no longer than the rebalance timeout
    join a version=3 rebalance=4000 -> waits
    pass 2000                       ->
    join b version=3 rebalance=4000 -> waits
    pass 1999                       ->
    pass 1                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1

# a group that was left while it waited is empty
    join a                          -> MEMBER_ID_REQUIRED a-1
    join a                          -> waits
    leave a                         -> NONE; a: UNKNOWN_MEMBER_ID
    pass 3000                       ->
    state                           -> Empty 1 -
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_members_join(story: str) -> None:
    Stage().play(story)


@pytest.mark.parametrize("story", stories(FULL))
def test_a_group_has_a_largest_size(story: str) -> None:
    Stage(group_max_size=2).play(story)


@pytest.mark.parametrize("story", stories(FIRST_DELAY))
def test_the_first_rebalance_may_wait(story: str) -> None:
    Stage(group_initial_rebalance_delay_ms=3000).play(story)
