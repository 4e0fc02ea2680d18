"""Being a member: assignments, heartbeats, and leaving."""

import pytest

from kwire.tests.groups.stage import Stage, stories

TWO = """
    join a version=3                -> waits
    join b version=3                -> waits
    pass 0                          -> a: 1 range leads a-1,b-2; b: 1 range follows a-1
"""

SYNC = """
# members wait until the leader has handed in the assignment
    sync b                          -> waits
    sync a a=x b=y                  -> x; b: y
    state                           -> Stable 1 range a-1,b-2 leader a-1

# whoever comes later is told at once
    sync a a=x b=y                  -> x
    sync b                          -> y
    sync b                          -> y

# a member that the leader forgot is assigned nothing
    sync a a=x                      -> x
    sync b                          -> nothing

# an assignment for nobody is dropped
    sync a a=x stranger=z           -> x
    assigned                        -> a-1=x b-2=

# the log has the generation before anybody is told
    written                         -> g=0[]
    sync a a=x b=y                  -> x
    written                         -> g=1[a-1,b-2]

# what a follower hands in does not count
    sync b b=mine                   -> waits
    sync a a=x                      -> x; b: nothing

# another generation is refused
    sync a gen=0                    -> ILLEGAL_GENERATION
    sync a gen=2                    -> ILLEGAL_GENERATION

# a stranger is refused before its generation is looked at
    sync a id=x gen=9               -> UNKNOWN_MEMBER_ID

# a static place that nobody holds is refused
    sync a instance=i               -> UNKNOWN_MEMBER_ID

# another protocol is refused
    sync a type=connect protocol=range      -> INCONSISTENT_GROUP_PROTOCOL
    sync a type=consumer protocol=sticky    -> INCONSISTENT_GROUP_PROTOCOL
    sync a type=consumer protocol=range a=x -> x

# nothing is assigned while members join
    sync a                          -> nothing
    join a                          -> waits
    sync b                          -> REBALANCE_IN_PROGRESS

# when the log does not take the assignment all join again
    sync b                          -> waits
    refuse-writes KAFKA_STORAGE_ERROR ->
    sync a a=x b=y                  -> NOT_COORDINATOR; b: NOT_COORDINATOR
    state                           -> PreparingRebalance 1 range a-1,b-2 leader a-1
    join a                          -> waits
    join b                          -> 2 range follows a-1; a: 2 range leads a-1,b-2

# an assignment that is too large for the log is our failure
    refuse-writes RECORD_LIST_TOO_LARGE ->
    sync a a=x b=y                  -> UNKNOWN_SERVER_ERROR
"""

HEARTBEAT = """
# a member of the current generation is told that all is well
    heartbeat a                     -> NONE
    sync a                          -> nothing
    heartbeat b                     -> NONE

# another generation is refused
    heartbeat a gen=0               -> ILLEGAL_GENERATION

# a stranger is refused
    heartbeat a id=x                -> UNKNOWN_MEMBER_ID

# a group that is not there has no members
    heartbeat a group=other         -> UNKNOWN_MEMBER_ID

# a heartbeat tells that the others join again
    sync a                          -> nothing
    join a                          -> waits
    heartbeat b                     -> REBALANCE_IN_PROGRESS

# a heartbeat prolongs the session by a whole session timeout
    sync a                          -> nothing
    sync b                          -> nothing
    pass 9000                       ->
    heartbeat a                     -> NONE
    heartbeat b                     -> NONE
    pass 9999                       ->
    state                           -> Stable 1 range a-1,b-2 leader a-1
    pass 1                          ->
    state                           -> Empty 2 -
"""

LEAVE = """
# whoever is left joins again
    sync a                          -> nothing
    leave b                         -> NONE
    heartbeat a                     -> REBALANCE_IN_PROGRESS
    join a                          -> 2 range leads a-1

# a group that everybody left is empty, and the log knows
    sync a                          -> nothing
    leave a b                       -> NONE NONE
    state                           -> Empty 2 -
    reload                          ->
    state                           -> Empty 2 -

# another member leads when the leader left
    sync a                          -> nothing
    leave a                         -> NONE
    join b                          -> 2 range leads b-2

# each member is answered on its own
    leave b id=x                    -> NONE UNKNOWN_MEMBER_ID

# strangers do not disturb a group
    sync a                          -> nothing
    leave id=x                      -> UNKNOWN_MEMBER_ID
    state                           -> Stable 1 range a-1,b-2 leader a-1

# a member that leaves while others wait for it lets them go on
    sync a                          -> nothing
    join a                          -> waits
    leave b                         -> NONE; a: 2 range leads a-1

# a member that waits and is sent away must start over
    sync a                          -> nothing
    join b topics=other             -> waits
    leave b                         -> NONE; b: UNKNOWN_MEMBER_ID
    join a                          -> 2 range leads a-1

# whoever waits for an assignment joins again when another leaves
    sync b                          -> waits
    leave a                         -> NONE; b: REBALANCE_IN_PROGRESS

# an id that was handed out can be given back
    sync a                          -> nothing
    join c                          -> MEMBER_ID_REQUIRED c-3
    leave c                         -> NONE
    join c                          -> UNKNOWN_MEMBER_ID c-3

# a static place is given up by its name
    sync a                          -> nothing
    join c instance=i               -> waits
    leave instance=i                -> NONE; c: UNKNOWN_MEMBER_ID
    leave instance=i                -> UNKNOWN_MEMBER_ID
    leave instance=                 -> UNKNOWN_MEMBER_ID

# a static place is not given up by somebody else
    sync a                          -> nothing
    join c instance=i               -> waits
    leave a/i                       -> FENCED_INSTANCE_ID
"""


@pytest.mark.parametrize("story", stories(SYNC))
def test_members_get_their_assignments(story: str) -> None:
    Stage().play(TWO + story)


@pytest.mark.parametrize("story", stories(HEARTBEAT))
def test_members_send_heartbeats(story: str) -> None:
    Stage().play(TWO + story)


@pytest.mark.parametrize("story", stories(LEAVE))
def test_members_leave(story: str) -> None:
    Stage().play(TWO + story)


@pytest.mark.parametrize("line", ["sync a", "heartbeat a gen=0", "leave id=x"])
def test_a_group_that_is_not_there_knows_no_member(line: str) -> None:
    assert Stage().step(line) == "UNKNOWN_MEMBER_ID"


def test_an_empty_group_assigns_nothing() -> None:
    stage = Stage()
    stage.play("join a -> MEMBER_ID_REQUIRED a-1")
    assert stage.step("sync a gen=0") == "UNKNOWN_MEMBER_ID"
