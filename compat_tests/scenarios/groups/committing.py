"""OffsetCommit: who may store offsets, and for what."""

from compat_tests.scenarios.group_steps import Group, Membership
from compat_tests.scenarios.play import Play, Topic
from kwire.codec.apis import OFFSET_COMMIT
from kwire.types import ZERO_UUID


def every_version_commits_for_a_group_without_members(play: Play) -> None:
    topic = play.topic()
    for version in range(2, 11):
        group = Group(play, f"group {version}")
        group.commit(topic, version=version)
        group.committed(topic)


def a_group_that_only_commits_is_empty(play: Play) -> None:
    group = Group(play)
    group.commit(play.topic())
    group.describe()


def a_member_commits_in_its_generation(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    for version in range(2, 11):
        group.commit(topic, member=member, version=version, offset=version)
    group.committed(topic)


def another_generation_may_not_commit(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    for version in (2, 7, 9):
        for generation in (member.generation - 1, member.generation + 1):
            group.commit(topic, member=member._replace(generation=generation), version=version)


def somebody_unknown_may_not_commit(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    for version in (2, 7, 9):
        group.commit(topic, member=Membership("nobody", member.generation), version=version)
        group.commit(topic, member=Membership("", member.generation), version=version)


def a_group_with_members_refuses_commits_from_outside(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.stable_member()
    for version in (2, 7, 9):
        group.commit(topic, version=version)


def an_unknown_group_refuses_commits_of_a_generation(play: Play) -> None:
    group, topic = Group(play), play.topic()
    for version in (2, 7, 8, 9, 10):
        group.commit(topic, member=Membership("nobody", 1), version=version)


def a_group_that_everybody_left_refuses_commits_of_a_generation(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.commit(topic, member=member)
    group.commit(topic)


def members_may_commit_while_others_join(play: Play) -> None:
    group, topic = Group(play), play.topic()
    first = group.stable_member()
    told = group.join()
    parked = group.join_later(told.member_id)
    group.until_rebalancing(first)
    group.commit(topic, member=first)
    group.join(first.member_id)
    parked.answer()


def members_may_not_commit_between_joining_and_syncing(play: Play) -> None:
    group, topic = Group(play), play.topic()
    leader, follower = group.second_member(group.stable_member())
    for version in (2, 9):
        group.commit(topic, member=leader, version=version)
        group.commit(topic, member=follower, version=version)


def an_instance_must_be_the_members_own(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_static_member("instance")
    group.commit(topic, member=member)
    group.commit(topic, member=member._replace(instance_id="other"))
    group.commit(topic, member=member._replace(member_id="made-up"))


def a_topic_that_does_not_exist_is_refused(play: Play) -> None:
    group = Group(play)
    nowhere = Topic(play.name("nowhere"), b"\1" * 16)
    for version in (2, 9, 10):
        group.commit(nowhere, version=version)
    group.describe()


def a_partition_that_does_not_exist_is_refused(play: Play) -> None:
    group, topic = Group(play), play.topic()
    for version in (2, 9, 10):
        group.commit(topic, version=version, partition=7)


def a_topic_without_an_id_is_refused(play: Play) -> None:
    group = Group(play)
    group.commit(Topic("", ZERO_UUID), version=10)


def metadata_that_is_too_long_is_refused(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic, metadata="x" * 64)
    group.commit(topic, metadata="x" * 65, offset=9)
    group.commit(topic, metadata="\u00e4" * 40, offset=9)
    group.committed(topic)


def metadata_may_be_absent(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic, metadata=None)
    group.commit(topic, metadata="", partition=1)
    group.committed(topic, partitions=(0, 1))


def a_group_without_a_name_may_commit(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.group_id = ""
    for version in (2, 7, 8, 9):
        group.commit(topic, version=version)
    group.committed(topic, version=7)
    # It is everybody's, so others must find it as this scenario did.
    group.delete()


def the_group_without_a_name_has_no_generations(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.group_id = ""
    group.commit(topic, member=Membership("somebody", 1))


def an_offset_below_zero_is_stored_as_it_is(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic, offset=-1)
    group.commit(topic, offset=-2, partition=1)
    group.committed(topic, partitions=(0, 1))


def a_commit_of_nothing_is_fine(play: Play) -> None:
    group = Group(play)
    for version in (2, 9):
        play.ask(OFFSET_COMMIT, version, group_id=group.group_id)
    group.describe()


def a_commit_of_nothing_asks_for_no_generation(play: Play) -> None:
    play.ask(
        OFFSET_COMMIT,
        9,
        group_id=play.name("group"),
        generation_id_or_member_epoch=4,
        member_id="nobody",
    )


def a_later_commit_replaces_the_earlier_one(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic, offset=10)
    group.commit(topic, offset=3, metadata="back")
    group.committed(topic)


def an_id_that_has_not_joined_yet_may_not_commit(play: Play) -> None:
    group, topic = Group(play), play.topic()
    told = group.join()
    group.commit(topic, member=Membership(told.member_id, 0))
    group.commit(topic, member=Membership(told.member_id, -1))
