"""Members of the new protocol: joining, moving partitions, leaving, and being given up."""

import pytest

from kwire.groups.commands import ConsumerHeartbeat, ConsumerHeartbeatAnswer
from kwire.groups.modern_members import NONE
from kwire.tests.groups.stage import Stage, stories

STORIES = r"""
# the first member gets everything
    topic t 3                          ->
    beat a                             -> 2 t:0,1,2
    beat a                             -> 2
    group                              -> Stable 2 2
    member a                           -> stable 2 t:0,1,2

# a member without topics is a member too
    beat a topics=                     -> 1 nothing
    group                              -> Stable 1 1
    member a                           -> stable 1 nothing

# a topic that is not there yet is assigned once it is
    beat a topics=t                    -> 2 nothing
    topic t 2                          ->
    beat a                             -> 3 t:0,1
    beat a                             -> 3

# a member that tells everything is told everything
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    beat a topics=t timeout=9 owned=t:0,1 -> 2 t:0,1
    beat a topics=t owned=t:0,1        -> 2
    beat a topics=t timeout=9          -> 2

# a member that joins again in its first epoch is told the same again
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    beat a epoch=0                     -> 2 t:0,1
    group                              -> Stable 2 2

# a member that joins again in a later epoch is fenced
    topic t 2                          ->
    beat a assignor=range              -> 2 t:0,1
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0                   -> 3 t:0
    beat a epoch=0                     -> FENCED_MEMBER_EPOCH

# an epoch that is not the member's own is fenced
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    beat a epoch=3                     -> FENCED_MEMBER_EPOCH
    beat a epoch=1                     -> FENCED_MEMBER_EPOCH
    beat a                             -> 2

# whoever is not a member is told so
    topic t 2                          ->
    beat z epoch=4                     -> GROUP_ID_NOT_FOUND
    beat a                             -> 2 t:0,1
    beat z epoch=4                     -> UNKNOWN_MEMBER_ID
    beat z epoch=-1                    -> UNKNOWN_MEMBER_ID

# a member keeps its epoch until it has given away what others are to have
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    group                              -> Reconciling 3 3
    beat a                             -> 2 t:0,1
    member a                           -> unrevoked 2 t:0,1 gives t:2,3
    beat a                             -> 2
    beat a owned=t:0,1,2               -> 2
    beat b                             -> 3
    beat a owned=t:0,1                 -> 3
    member a                           -> stable 3 t:0,1
    beat b                             -> 3 t:2,3
    group                              -> Stable 3 3

# a member that has given away before it was asked moves on at once
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0,1                 -> 3 t:0,1
    member a                           -> stable 3 t:0,1

# the answer with a new epoch may have been lost
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0,1                 -> 3 t:0,1
    beat a epoch=2 owned=t:0,1         -> 3
    beat a epoch=2 owned=t:0           -> 3
    beat a epoch=2 owned=t:0,3         -> FENCED_MEMBER_EPOCH
    beat a epoch=2                     -> FENCED_MEMBER_EPOCH

# three members share without anybody losing what it keeps
    topic t 6                          ->
    beat a assignor=range              -> 2 t:0,1,2,3,4,5
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0,1,2               -> 3 t:0,1,2
    beat b                             -> 3 t:3,4,5
    beat c assignor=range              -> 4 nothing
    beat a owned=t:0,1                 -> 4 t:0,1
    beat b owned=t:3                   -> 4 t:2,3
    beat c                             -> 4 t:4,5
    beat b                             -> 4
    group                              -> Stable 4 4
    member a                           -> stable 4 t:0,1
    member b                           -> stable 4 t:2,3
    member c                           -> stable 4 t:4,5

# a member waits in the new epoch for what others still have
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    member b                           -> unreleased 3 nothing
    beat a owned=t:0,1                 -> 3 t:0,1
    beat b                             -> 3 t:2,3
    member b                           -> stable 3 t:2,3

# a target that changes meanwhile is taken over as soon as the old one is reached
    topic t 6                          ->
    beat a assignor=range              -> 2 t:0,1,2,3,4,5
    beat b assignor=range              -> 3 nothing
    beat a                             -> 2 t:0,1,2
    beat c assignor=range              -> 4 nothing
    beat a                             -> 2
    beat a owned=t:0,1,2               -> 3 t:0,1
    beat a owned=t:0,1                 -> 4
    member a                           -> stable 4 t:0,1

# what one member leaves another one gets
    topic t 2                          ->
    beat a assignor=range              -> 2 t:0,1
    beat b assignor=range              -> 3 nothing
    beat a owned=t:0                   -> 3 t:0
    beat b                             -> 3 t:1
    beat a epoch=-1                    -> -1
    group                              -> Assigning 4 3
    beat b                             -> 4 t:0,1
    group                              -> Stable 4 4

# new partitions are assigned
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    topic t 4                          ->
    beat a                             -> 3 t:0,1,2,3
    group                              -> Stable 3 3

# a topic that is deleted is given up
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    drop t                             ->
    beat a                             -> 2 nothing
    member a                           -> unrevoked 2 nothing gives t:0,1
    beat a owned=nothing               -> 3
    member a                           -> stable 3 nothing

# one topic can take the place of another
    topic t 1                          ->
    beat a                             -> 2 t:0
    drop t                             ->
    topic u 1                          ->
    beat a topics=t,u                  -> 2 nothing
    beat a owned=u:0                   -> 3 u:0
    member a                           -> stable 3 u:0

# changes of other topics change nothing
    topic t 1                          ->
    beat a                             -> 2 t:0
    topic u 5                          ->
    beat a                             -> 2
    group                              -> Stable 2 2

# a member that subscribes to more gets more
    topic t 2                          ->
    topic u 2                          ->
    beat a                             -> 2 t:0,1
    beat a topics=t,u                  -> 3 t:0,1 u:0,1
    group                              -> Stable 3 3

# a member that subscribes to less gives the rest away first
    topic t 2                          ->
    topic u 2                          ->
    beat a topics=t,u                  -> 2 t:0,1 u:0,1
    beat a topics=u                    -> 2 u:0,1
    member a                           -> unrevoked 2 u:0,1 gives t:0,1
    beat a owned=u:0,1                 -> 3
    member a                           -> stable 3 u:0,1

# saying the same again changes nothing
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    beat a topics=t                    -> 2
    group                              -> Stable 2 2

# the first assignor is used where nobody names one
    topic t 1                          ->
    topic u 1                          ->
    beat a topics=t,u                  -> 2 t:0 u:0
    beat b topics=t,u                  -> 3 nothing
    target b                           -> t:0

# the assignor that most members name is used
    topic t 1                          ->
    topic u 1                          ->
    beat a topics=t,u assignor=uniform -> 2 t:0 u:0
    beat b topics=t,u assignor=range   -> 3 nothing
    beat c topics=t,u assignor=range   -> 4 nothing
    target a                           -> t:0 u:0
    target b                           -> nothing
    target c                           -> nothing

# the range assignor puts static members first
    topic t 4                          ->
    beat z instance=1 assignor=range   -> 2 t:0,1,2,3
    beat a assignor=range              -> 3 nothing
    target z                           -> t:0,1
    target a                           -> t:2,3

# a static place that is held cannot be taken
    topic t 2                          ->
    beat a instance=i                  -> 2 t:0,1
    beat b instance=i                  -> UNRELEASED_INSTANCE_ID
    beat a epoch=0 instance=i          -> UNRELEASED_INSTANCE_ID

# a static member that left for now keeps its place and its partitions
    topic t 4                          ->
    beat a instance=i assignor=range   -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a epoch=-2 instance=i         -> -2
    group                              -> Reconciling 3 3
    member a                           -> stable -2 t:0,1,2,3
    beat b                             -> 3
    beat c instance=i assignor=range   -> 3 t:0,1
    member c                           -> stable 3 t:0,1
    group                              -> Reconciling 3 3

# a static member that comes back with other topics changes the group
    topic t 2                          ->
    topic u 2                          ->
    beat a instance=i                  -> 2 t:0,1
    beat a epoch=-2 instance=i         -> -2
    beat b instance=i topics=u         -> 3 u:0,1
    group                              -> Stable 3 3
    member b                           -> stable 3 u:0,1

# the one whose static place was taken is fenced
    topic t 2                          ->
    beat a instance=i                  -> 2 t:0,1
    beat a epoch=-2 instance=i         -> -2
    beat b instance=i                  -> 2 t:0,1
    beat a epoch=2 instance=i          -> FENCED_INSTANCE_ID
    beat a epoch=-1 instance=i         -> FENCED_INSTANCE_ID
    beat a epoch=-2 instance=i         -> FENCED_INSTANCE_ID
    beat a epoch=2                     -> UNKNOWN_MEMBER_ID

# nobody knows an instance that never joined
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    beat a instance=i epoch=2          -> UNKNOWN_MEMBER_ID
    beat a instance=i epoch=-1         -> UNKNOWN_MEMBER_ID

# a static member leaves for good like any other
    topic t 2                          ->
    beat a instance=i                  -> 2 t:0,1
    beat a instance=i epoch=-1         -> -1
    group                              -> Empty 3 2
    beat b instance=i                  -> 4 t:0,1

# a static member that is away is removed when its session ends
    topic t 2                          ->
    beat a instance=i                  -> 2 t:0,1
    beat a epoch=-2 instance=i         -> -2
    pass 44999                         ->
    group                              -> Reconciling 2 2
    pass 1                             ->
    group                              -> Empty 3 2

# a member that is silent for too long is removed
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    pass 44999                         ->
    beat a                             -> 2
    pass 44999                         ->
    group                              -> Stable 2 2
    pass 1                             ->
    group                              -> Empty 3 2
    beat a epoch=2                     -> UNKNOWN_MEMBER_ID

# whoever does not give away in time is removed
    topic t 4                          ->
    beat a assignor=range timeout=20000 -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a                             -> 2 t:0,1
    pass 10000                         ->
    beat a                             -> 2
    pass 9999                          ->
    beat a                             -> 2
    group                              -> Reconciling 3 3
    pass 1                             ->
    group                              -> Assigning 4 3
    beat b                             -> 4 t:0,1,2,3
    beat a                             -> UNKNOWN_MEMBER_ID

# whoever gives away in time stays
    topic t 4                          ->
    beat a assignor=range timeout=20000 -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a                             -> 2 t:0,1
    pass 19999                         ->
    beat a owned=t:0,1                 -> 3
    pass 1                             ->
    member a                           -> stable 3 t:0,1

# a session runs on after a restart
    topic t 2                          ->
    beat a                             -> 2 t:0,1
    pass 44999                         ->
    reload                             ->
    group                              -> Stable 2 2
    pass 44999                         ->
    group                              -> Stable 2 2
    pass 1                             ->
    group                              -> Empty 3 2

# the time to give away runs on after a restart
    topic t 4                          ->
    beat a assignor=range timeout=20000 -> 2 t:0,1,2,3
    beat b assignor=range              -> 3 nothing
    beat a                             -> 2 t:0,1
    reload                             ->
    pass 19999                         ->
    group                              -> Reconciling 3 3
    pass 1                             ->
    group                              -> Assigning 4 3

# an expression subscribes to all topics that match
    topic logs.a 1                     ->
    topic logs.b 1                     ->
    topic other 1                      ->
    beat a regex=logs\..*              -> 2 logs.a:0 logs.b:0
    group                              -> Stable 2 2

# a new topic that matches is assigned
    topic logs.a 1                     ->
    beat a regex=logs\..*              -> 2 logs.a:0
    topic logs.b 1                     ->
    beat a                             -> 3 logs.a:0 logs.b:0
    topic other 1                      ->
    beat a                             -> 3
    group                              -> Stable 3 3

# an expression and names can be mixed
    topic logs.a 1                     ->
    topic t 1                          ->
    beat a regex=logs\..* topics=t     -> 2 logs.a:0 t:0

# an expression is given up by an empty one
    topic t 1                          ->
    beat a regex=t                     -> 2 t:0
    beat a regex= owned=t:0            -> 2 nothing
    beat a owned=nothing               -> 3
    member a                           -> stable 3 nothing

# two members with one expression share what matches
    topic t 2                          ->
    beat a regex=t assignor=range      -> 2 t:0,1
    beat b regex=t assignor=range      -> 3 nothing
    beat a owned=t:0                   -> 3 t:0
    beat b                             -> 3 t:1

# what the log does not take did not happen
    topic t 2                          ->
    refuse-writes NOT_ENOUGH_REPLICAS  ->
    beat a                             -> COORDINATOR_NOT_AVAILABLE
    group                              -> none
    beat a                             -> 2 t:0,1
    topic t 3                          ->
    refuse-writes NOT_LEADER_OR_FOLLOWER ->
    beat a                             -> NOT_COORDINATOR
    group                              -> Stable 2 2
    beat a                             -> 3 t:0,1,2

# everything is the same after a restart
    topic t 4                          ->
    beat a assignor=range              -> 2 t:0,1,2,3
    beat b assignor=range instance=i   -> 3 nothing
    beat a                             -> 2 t:2,3
    reload                             ->
    group                              -> Reconciling 3 3
    member a                           -> unrevoked 2 t:2,3 gives t:0,1
    member b                           -> unreleased 3 nothing
    beat a owned=t:2,3                 -> 3
    beat b                             -> 3 t:0,1
    group                              -> Stable 3 3
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_members_of_the_new_protocol_share_without_stopping(story: str) -> None:
    Stage().play(story)


def test_a_group_has_as_many_members_as_it_may_have() -> None:
    Stage(group_consumer_max_size=2).play("""
        topic t 2                       ->
        beat a                          -> 2 t:0,1
        beat b instance=i               -> 3 nothing
        beat c                          -> GROUP_MAX_SIZE_REACHED
        join c version=3                -> GROUP_MAX_SIZE_REACHED
        beat a owned=nothing            -> 3 t:0
        beat a epoch=-1                 -> -1
        beat c                          -> 5 t:0
    """)


def test_a_member_without_an_id_is_given_one() -> None:
    stage = Stage()
    assert _join(stage, "").member_id == "1"


def test_the_settings_of_this_broker_count() -> None:
    stage = Stage(
        group_consumer_min_session_timeout_ms=1000,
        group_consumer_session_timeout_ms=1000,
        group_consumer_min_heartbeat_interval_ms=100,
        group_consumer_heartbeat_interval_ms=100,
        group_consumer_assignors="range",
    )
    stage.play("""
        topic t 1                       ->
        topic u 1                       ->
        beat a topics=t,u               -> 2 t:0 u:0
        beat b topics=t,u               -> 3 nothing
        target b                        -> nothing
        pass 1000                       ->
        group                           -> Empty 5 3
    """)
    assert _join(stage, "m").heartbeat_interval_ms == 100


def _join(stage: Stage, member_id: str) -> ConsumerHeartbeatAnswer:
    topics = frozenset({"t"})
    command = ConsumerHeartbeat("g", member_id, 0, topics=topics, owned=NONE)
    answer = stage.shard.submit(command).value
    assert isinstance(answer, ConsumerHeartbeatAnswer)
    return answer
