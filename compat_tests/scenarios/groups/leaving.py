"""LeaveGroup: members go, or are sent away."""

from compat_tests.scenarios.group_steps import Group
from compat_tests.scenarios.play import Play
from kwire.codec.apis import LEAVE_GROUP


def old_versions_let_one_member_leave(play: Play) -> None:
    for version in (0, 1, 2):
        group = Group(play, f"group {version}")
        member = group.stable_member()
        play.ask(LEAVE_GROUP, version, group_id=group.group_id, member_id=member.member_id)
        group.describe()


def new_versions_let_many_members_leave_at_once(play: Play) -> None:
    for version in (3, 4, 5):
        group = Group(play, f"group {version}")
        first, second = group.stable_pair()
        group.leave((first.member_id, None), (second.member_id, None), version=version)
        group.describe()


def those_who_are_not_members_are_told_so_one_by_one(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave(("nobody", None), (member.member_id, None), ("", None))


def leaving_as_somebody_unknown_is_refused(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    for version in (0, 2):
        play.ask(LEAVE_GROUP, version, group_id=group.group_id, member_id="nobody")
    for version in (3, 5):
        group.leave(("nobody", None), version=version)


def leaving_twice_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.leave((member.member_id, None))


def leaving_a_group_that_is_not_there_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 2):
        play.ask(LEAVE_GROUP, version, group_id=group.group_id, member_id="nobody")
    for version in (3, 5):
        group.leave(("nobody", None), ("else", "instance"), version=version)


def leaving_the_group_without_a_name_is_refused(play: Play) -> None:
    for version in (0, 2):
        play.ask(LEAVE_GROUP, version, group_id="", member_id="nobody")
    group = Group(play)
    group.group_id = ""
    group.leave(("nobody", None))


def leaving_with_nobody_named_is_fine(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    group.leave()


def the_others_rebalance_when_one_leaves(play: Play) -> None:
    group = Group(play)
    leader, follower = group.stable_pair()
    group.leave((follower.member_id, None))
    group.heartbeat(leader)
    group.join(leader.member_id)


def the_next_one_leads_when_the_leader_leaves(play: Play) -> None:
    group = Group(play)
    leader, follower = group.stable_pair()
    group.leave((leader.member_id, None))
    group.heartbeat(follower)
    group.join(follower.member_id)


def an_id_that_was_given_out_can_be_given_back(play: Play) -> None:
    group = Group(play)
    told = group.join()
    group.leave((told.member_id, None))
    group.join(told.member_id)


def a_member_that_leaves_while_others_join_lets_them_go_on(play: Play) -> None:
    group = Group(play)
    first = group.stable_member()
    told = group.join()
    parked = group.join_later(told.member_id)
    group.until_rebalancing(first)
    group.leave((first.member_id, None))
    parked.answer()


def one_of_two_who_wait_for_the_leader_may_leave(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    parked = group.sync_later(follower)
    group.leave((leader.member_id, None))
    parked.answer()
    group.join(follower.member_id)
