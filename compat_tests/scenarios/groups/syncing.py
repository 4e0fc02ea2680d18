"""SyncGroup and Heartbeat: getting an assignment, and staying a member."""

from compat_tests.scenarios.group_steps import Group, Membership
from compat_tests.scenarios.play import Play


def every_version_hands_the_leader_its_assignment(play: Play) -> None:
    for version in (0, 1, 2, 3, 4, 5):
        group = Group(play, f"group {version}")
        leader = group.new_member()
        group.sync(leader, {leader.member_id: b"all"}, version=version)


def a_follower_waits_for_the_leader(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    parked = group.sync_later(follower)
    group.sync(leader, {leader.member_id: b"one", follower.member_id: b"two"})
    parked.answer()
    group.describe()


def a_member_the_leader_forgot_gets_an_empty_assignment(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    group.sync(leader, {leader.member_id: b"all"})
    group.sync(follower)


def an_assignment_for_somebody_who_is_not_in_the_group_is_ignored(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    group.sync(leader, {leader.member_id: b"all", "nobody": b"none"})
    group.describe()


def what_a_follower_hands_in_is_ignored(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    group.sync(leader, {leader.member_id: b"one", follower.member_id: b"two"})
    group.sync(follower, {follower.member_id: b"everything"})


def syncing_again_gives_the_same_assignment(play: Play) -> None:
    group = Group(play)
    leader, follower = group.stable_pair()
    group.sync(leader, {leader.member_id: b"other"})
    group.sync(follower)


def syncing_with_another_generation_is_refused(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    for generation in (leader.generation - 1, leader.generation + 1, -1):
        for version in (0, 3, 5):
            group.sync(leader._replace(generation=generation), version=version)


def syncing_as_somebody_unknown_is_refused(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    for version in (0, 3, 5):
        group.sync(Membership("nobody", leader.generation), version=version)
        group.sync(Membership("", leader.generation), version=version)


def syncing_with_another_protocol_type_is_refused(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    group.sync(leader, protocol_type="connect")
    group.sync(leader, protocol_type=None)


def syncing_with_another_protocol_is_refused(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    group.sync(leader, protocol_name="roundrobin")
    group.sync(leader, protocol_name=None)


def version_5_must_name_type_and_protocol(play: Play) -> None:
    group = Group(play)
    leader = group.new_member()
    group.sync(leader, protocol_type=None, protocol_name=None)


def syncing_while_others_join_is_refused(play: Play) -> None:
    group = Group(play)
    first = group.stable_member()
    told = group.join()
    parked = group.join_later(told.member_id)
    group.until_rebalancing(first)
    for version in (0, 5):
        group.sync(first, version=version)
    group.join(first.member_id)
    parked.answer()


def syncing_in_a_group_that_is_not_there_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 3, 5):
        group.sync(Membership("nobody", 1), version=version)


def syncing_in_the_group_without_a_name_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 3, 5):
        group.sync(Membership("nobody", 1), version=version, group_id="")


def syncing_in_a_group_that_everybody_left_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.sync(member)


def the_rebalance_of_others_ends_a_follower_s_waiting(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    parked = group.sync_later(follower)
    told = group.join()
    third = group.join_later(told.member_id)
    group.until_rebalancing(leader)
    parked.answer()
    again = group.join_later(follower.member_id)
    group.join(leader.member_id)
    again.answer()
    third.answer()


def a_heartbeat_is_answered_in_every_version(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    for version in (0, 1, 2, 3, 4):
        group.heartbeat(member, version=version)


def a_heartbeat_before_the_sync_is_fine(play: Play) -> None:
    group = Group(play)
    member = group.new_member()
    group.heartbeat(member)


def a_heartbeat_of_another_generation_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    for generation in (member.generation - 1, member.generation + 1, -1):
        group.heartbeat(member._replace(generation=generation))


def a_heartbeat_of_somebody_unknown_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    for version in (0, 3, 4):
        group.heartbeat(Membership("nobody", member.generation), version=version)
        group.heartbeat(Membership("", member.generation), version=version)


def a_heartbeat_in_a_group_that_is_not_there_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 4):
        group.heartbeat(Membership("nobody", 1), version=version)


def a_heartbeat_in_the_group_without_a_name_is_refused(play: Play) -> None:
    group = Group(play)
    group.group_id = ""
    for version in (0, 4):
        group.heartbeat(Membership("nobody", 1), version=version)


def a_heartbeat_in_a_group_that_everybody_left_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.heartbeat(member)


def a_heartbeat_with_an_id_that_has_not_joined_yet_is_refused(play: Play) -> None:
    group = Group(play)
    told = group.join()
    group.heartbeat(Membership(told.member_id, 0))
    group.heartbeat(Membership(told.member_id, -1))


def a_heartbeat_that_names_an_instance_the_group_does_not_know_is_refused(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.heartbeat(member._replace(instance_id="nobody"))
