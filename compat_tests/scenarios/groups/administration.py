"""DescribeGroups, ListGroups, DeleteGroups and OffsetDelete: looking at groups, and cleaning up."""

from compat_tests.scenarios.group_steps import Group, subscription
from compat_tests.scenarios.play import Play, Topic
from kwire.codec.apis import DELETE_GROUPS, DESCRIBE_GROUPS, LIST_GROUPS


def every_version_describes_a_stable_group(play: Play) -> None:
    group = Group(play)
    group.stable_pair()
    for version in range(7):
        group.describe(version=version)


def authorized_operations_are_told_when_asked_for(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    for version in (3, 6):
        group.describe(version=version, include_authorized_operations=True)


def a_group_that_is_not_there_is_described_as_dead(play: Play) -> None:
    group = Group(play)
    for version in range(7):
        group.describe(version=version)
    group.describe(version=5, include_authorized_operations=True)
    group.describe(version=6, include_authorized_operations=True)


def the_group_without_a_name_is_not_there(play: Play) -> None:
    for version in (0, 5, 6):
        play.ask(DESCRIBE_GROUPS, version, groups=[""])


def many_groups_are_described_at_once(play: Play) -> None:
    one, two = Group(play, "one"), Group(play, "two")
    one.stable_member()
    two.new_member()
    groups = [one.group_id, two.group_id, play.name("nobody"), one.group_id]
    play.ask(DESCRIBE_GROUPS, 6, groups=groups)
    play.ask(DESCRIBE_GROUPS, 6, groups=[])


def each_state_is_described(play: Play) -> None:
    group = Group(play)
    first = group.new_member()
    group.describe()
    group.sync(first, {first.member_id: b"all"})
    group.describe()
    told = group.join()
    parked = group.join_later(told.member_id)
    group.until_rebalancing(first)
    group.describe()
    group.leave((first.member_id, None))
    second = parked.answer().member_id
    group.leave((second, None))
    group.describe()


def every_version_lists_groups(play: Play) -> None:
    one, two = Group(play, "one"), Group(play, "two")
    one.stable_member()
    two.new_member()
    for version in range(6):
        play.ask(LIST_GROUPS, version)


def groups_are_listed_by_their_state(play: Play) -> None:
    Group(play, "stable").stable_member()
    Group(play, "completing").new_member()
    Group(play, "empty").commit(play.topic())
    for states in (["Stable"], ["Empty", "Stable"], ["CompletingRebalance"], ["stable"], ["Odd"]):
        play.ask(LIST_GROUPS, 4, states_filter=states)
        play.ask(LIST_GROUPS, 5, states_filter=states)


def groups_are_listed_by_their_type(play: Play) -> None:
    Group(play).stable_member()
    for types in (["classic"], ["Classic"], ["consumer"], ["classic", "consumer"], ["odd"]):
        play.ask(LIST_GROUPS, 5, types_filter=types)
    play.ask(LIST_GROUPS, 5, types_filter=["classic"], states_filter=["Empty"])


def a_group_in_which_only_an_id_was_given_out_can_be_deleted(play: Play) -> None:
    group = Group(play)
    told = group.join()
    group.delete()
    group.join(told.member_id)


def a_group_with_members_cannot_be_deleted(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    for version in (0, 1, 2):
        group.delete(version=version)


def a_group_that_rebalances_cannot_be_deleted(play: Play) -> None:
    group = Group(play)
    group.new_member()
    group.delete()


def a_group_that_is_not_there_cannot_be_deleted(play: Play) -> None:
    group = Group(play)
    for version in (0, 1, 2):
        group.delete(version=version)
    play.ask(DELETE_GROUPS, 2, groups_names=[""])


def a_group_that_everybody_left_is_deleted_with_its_offsets(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    group.commit(topic, member=member)
    group.leave((member.member_id, None))
    group.delete()
    group.committed(topic)
    group.describe()
    group.delete()


def a_group_that_only_committed_is_deleted(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    group.delete()
    group.committed(topic)


def a_deleted_group_starts_over(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.delete()
    group.new_member()


def many_groups_are_deleted_at_once(play: Play) -> None:
    one, two, topic = Group(play, "one"), Group(play, "two"), play.topic()
    one.commit(topic)
    two.stable_member()
    groups = [one.group_id, two.group_id, play.name("nobody")]
    play.ask(DELETE_GROUPS, 2, groups_names=groups)
    play.ask(DELETE_GROUPS, 2, groups_names=[])


def offsets_of_a_group_without_members_are_forgotten(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    group.forget(topic, partitions=(0, 1))
    group.committed(topic)


def offsets_of_a_group_that_is_not_there_cannot_be_forgotten(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.forget(topic)
    group.group_id = ""
    group.forget(topic)


def offsets_of_unknown_topics_cannot_be_forgotten(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    group.forget(Topic(play.name("nowhere"), b""))
    group.forget(topic, partitions=(7,))
    group.forget()


def offsets_of_a_subscribed_topic_are_kept(play: Play) -> None:
    group, read, unread = Group(play), play.topic("read"), play.topic("unread")
    protocols = (("range", subscription(read.name)),)
    member = group.stable_member(protocols=protocols)
    group.commit(read, member=member)
    group.commit(unread, member=member)
    group.forget(read, unread)
    group.committed(read, unread)


def offsets_of_a_group_with_foreign_members_are_kept(play: Play) -> None:
    group, topic = Group(play), play.topic()
    told = group.join(protocol_type="connect")
    group.join(told.member_id, protocol_type="connect")
    group.forget(topic)


def offsets_of_a_group_with_unreadable_subscriptions_are_kept(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member(protocols=(("range", b"x"),))
    group.commit(topic, member=member)
    group.forget(topic)
