"""Static members (KIP-345) keep their place over a restart, and fence who was there before."""

from compat_tests.scenarios.group_steps import CHANGED, RANGE, Group, Membership, subscription
from compat_tests.scenarios.play import Play
from kwire.codec.apis import LEAVE_GROUP


def a_static_member_is_let_in_at_once(play: Play) -> None:
    for version in (5, 6, 7, 8, 9):
        Group(play, f"group {version}").static_member("instance", version=version)


def a_static_leader_that_comes_back_keeps_the_generation(play: Play) -> None:
    for version in (5, 8, 9):
        group = Group(play, f"group {version}")
        before = group.stable_static_member("instance")
        after = group.static_member("instance", version=version)
        group.heartbeat(before)
        group.heartbeat(after)
        group.sync(after)


def a_static_leader_with_new_metadata_keeps_the_generation_if_the_protocol_stays(
    play: Play,
) -> None:
    group = Group(play)
    group.stable_static_member("instance")
    group.static_member("instance", protocols=CHANGED)


def a_static_member_with_another_protocol_starts_a_generation(play: Play) -> None:
    group = Group(play)
    protocols = (*RANGE, ("roundrobin", subscription()))
    group.stable_static_member("instance")
    group.static_member("instance", protocols=protocols[1:])


def a_static_follower_that_comes_back_disturbs_nobody(play: Play) -> None:
    group = Group(play)
    leader = group.stable_member()
    parked = group.join_later(instance="instance")
    group.until_rebalancing(leader)
    again = group.join(leader.member_id)
    joined = parked.answer()
    follower = Membership(joined.member_id, joined.generation_id, "instance")
    leader = leader._replace(generation=again.generation_id)
    group.sync(leader, {leader.member_id: b"one", follower.member_id: b"two"})
    back = group.static_member("instance")
    group.sync(back)
    group.heartbeat(leader)
    group.heartbeat(follower)
    group.describe()


def a_replaced_static_member_is_fenced_everywhere(play: Play) -> None:
    group = Group(play)
    topic = play.topic()
    before = group.stable_static_member("instance")
    group.static_member("instance")
    group.join(before.member_id, instance="instance")
    group.sync(before)
    group.heartbeat(before)
    group.commit(topic, member=before)
    group.leave((before.member_id, "instance"))


def a_static_member_that_names_its_id_and_instance_stays_who_it_is(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    group.join(member.member_id, instance="instance")
    group.heartbeat(member)


def an_instance_with_the_id_of_another_member_is_fenced(play: Play) -> None:
    group = Group(play)
    group.stable_static_member("instance")
    group.join("made-up", instance="instance")
    group.heartbeat(Membership("made-up", 1, "instance"))
    group.sync(Membership("made-up", 1, "instance"))


def an_instance_the_group_does_not_know_is_unknown(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    group.join(member.member_id, instance="other")
    group.heartbeat(member._replace(instance_id="other"))
    group.sync(member._replace(instance_id="other"))


def a_static_member_may_leave_out_its_instance(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    group.heartbeat(member._replace(instance_id=None))
    group.sync(member._replace(instance_id=None))


def a_static_member_is_sent_away_by_its_instance(play: Play) -> None:
    for version in (3, 5):
        group = Group(play, f"group {version}")
        member = group.stable_static_member("instance")
        group.leave(("", "instance"), version=version)
        group.heartbeat(member)
        group.describe()


def an_instance_that_is_not_there_cannot_be_sent_away(play: Play) -> None:
    group = Group(play)
    group.stable_static_member("instance")
    group.leave(("", "nobody"))


def a_static_member_leaves_by_its_id(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    group.leave((member.member_id, "instance"))
    group.describe()


def old_versions_let_a_static_member_leave_by_its_id(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    play.ask(LEAVE_GROUP, 2, group_id=group.group_id, member_id=member.member_id)
    group.describe()


def a_static_member_whose_id_was_given_out_to_a_dynamic_one_is_refused(play: Play) -> None:
    group = Group(play)
    told = group.join()
    group.join(told.member_id, instance="instance")


def static_members_are_described_with_their_instance(play: Play) -> None:
    group = Group(play)
    group.stable_static_member("instance")
    for version in (3, 4, 5, 6):
        group.describe(version=version)


def a_static_member_that_comes_back_before_the_sync_starts_a_generation(play: Play) -> None:
    group = Group(play)
    group.static_member("instance")
    group.static_member("instance")


def a_static_member_that_comes_back_ends_the_waiting_of_its_old_self(play: Play) -> None:
    group = Group(play)
    leader = group.stable_member()
    waiting = group.join_later(instance="instance")
    group.until_rebalancing(leader)
    again = group.join_later(instance="instance")
    waiting.answer()
    group.join(leader.member_id)
    again.answer()


def leaving_members_are_judged_one_by_one(play: Play) -> None:
    group = Group(play)
    member = group.stable_static_member("instance")
    group.leave(("made-up", "instance"), (member.member_id, "nobody"), ("", "instance"))
