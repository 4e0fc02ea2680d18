"""OffsetFetch: how far groups have read."""

from compat_tests.scenarios.group_steps import Group
from compat_tests.scenarios.play import Play, Topic
from kwire.codec.apis import DELETE_TOPICS, OFFSET_FETCH
from kwire.codec.messages.delete_topics import DeletableTopic
from kwire.codec.messages.offset_fetch import OffsetFetchGroup, OffsetFetchTopic
from kwire.types import ZERO_UUID


def every_version_tells_a_committed_offset(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    for version in range(1, 11):
        group.committed(topic, version=version)


def an_unknown_group_has_committed_nothing(play: Play) -> None:
    group, topic = Group(play), play.topic()
    for version in range(1, 11):
        group.committed(topic, version=version)


def a_partition_without_a_commit_has_none(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    for version in (1, 5, 7, 9, 10):
        group.committed(topic, version=version, partitions=(0, 1))


def a_partition_that_does_not_exist_has_no_commit(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    for version in (1, 7, 9, 10):
        group.committed(topic, version=version, partitions=(9,))


def a_topic_that_does_not_exist_has_no_commit(play: Play) -> None:
    group = Group(play)
    nowhere = Topic(play.name("nowhere"), b"\1" * 16)
    for version in (1, 7, 9, 10):
        group.committed(nowhere, version=version)


def a_topic_without_an_id_is_unknown(play: Play) -> None:
    Group(play).committed(Topic("", ZERO_UUID), version=10)


def null_asks_for_all_topics(play: Play) -> None:
    group, one, two = Group(play), play.topic("one"), play.topic("two")
    group.commit(one)
    group.commit(two, partition=1, offset=8)
    for version in (2, 5, 7, 8, 9, 10):
        group.committed(version=version)


def null_asks_for_nothing_in_an_unknown_group(play: Play) -> None:
    group = Group(play)
    for version in (2, 7, 8, 10):
        group.committed(version=version)


def no_topics_are_answered_with_none(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    play.ask(OFFSET_FETCH, 7, group_id=group.group_id, topics=[])
    play.ask(OFFSET_FETCH, 9, groups=[OffsetFetchGroup(group_id=group.group_id, topics=[])])


def many_groups_are_asked_for_at_once(play: Play) -> None:
    one, two, topic = Group(play, "one"), Group(play, "two"), play.topic()
    one.commit(topic, offset=1)
    two.commit(topic, offset=2)
    asked = [OffsetFetchTopic(name=topic.name, partition_indexes=[0, 1])]
    groups = [
        OffsetFetchGroup(group_id=one.group_id, topics=asked),
        OffsetFetchGroup(group_id=two.group_id, topics=None),
        OffsetFetchGroup(group_id=play.name("nobody"), topics=asked),
    ]
    for version in (8, 9):
        play.ask(OFFSET_FETCH, version, groups=groups)


def no_groups_are_answered_with_none(play: Play) -> None:
    play.ask(OFFSET_FETCH, 8, groups=[])


def committed_offsets_are_stable_without_transactions(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    for version in (7, 8, 9, 10):
        group.committed(topic, version=version, require_stable=True)


def a_classic_group_does_not_look_at_member_ids(play: Play) -> None:
    group, topic = Group(play), play.topic()
    member = group.stable_member()
    group.commit(topic, member=member)
    asked = [OffsetFetchTopic(name=topic.name, partition_indexes=[0])]
    for member_id, epoch in ((member.member_id, member.generation), ("nobody", 7), ("nobody", -1)):
        asked_as = OffsetFetchGroup(
            group_id=group.group_id, member_id=member_id, member_epoch=epoch, topics=asked
        )
        play.ask(OFFSET_FETCH, 9, groups=[asked_as])


def a_deleted_topic_takes_its_commits_along(play: Play) -> None:
    group, topic = Group(play), play.topic()
    group.commit(topic)
    doomed = [DeletableTopic(name=topic.name)]
    play.arrange(DELETE_TOPICS, 6, topics=doomed, timeout_ms=10_000)
    play.ask(
        OFFSET_FETCH,
        7,
        until=lambda told: not told.topics,
        group_id=group.group_id,
        topics=None,
    )
    group.committed(topic, version=9)
    group.committed(topic, version=10)
