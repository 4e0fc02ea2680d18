"""ConsumerGroupHeartbeat (KIP-848): joining, staying and leaving, and what is refused."""

from compat_tests.scenarios.modern_steps import (
    LEAVES,
    LEAVES_FOR_NOW,
    ModernGroup,
    Owned,
    new_topic,
)
from compat_tests.scenarios.play import Play, Topic


def a_member_with_an_id_of_its_own_gets_everything(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.heartbeat("one", owned=Owned(topic, (0, 1)))
    group.heartbeat("one")
    group.describe()


def version_0_gives_a_member_its_id(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    joined = group.join("", topic, version=0)
    group.heartbeat(joined.member_id, version=0)


def version_1_members_must_bring_an_id(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("", topic)
    group.heartbeat("", 1)
    group.heartbeat("", 1, version=0)


def a_group_must_have_a_name(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.group_id = ""
    for version in (0, 1):
        group.join("one", topic, version=version)


def joining_must_tell_everything(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    for version in (0, 1):
        group.join("one", topic, version=version, rebalance_timeout_ms=-1)
        group.join("one", topic, version=version, topic_partitions=None)
        group.join("one", topic, version=version, subscribed_topic_names=None)
        group.join("one", topic, version=version, topic_partitions=None, owned=Owned(topic, (0,)))


def what_is_given_must_not_be_empty(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="")
    group.join("one", topic, rack_id="")
    group.join("one", topic, server_assignor="")
    group.join("one", topic, subscribed_topic_regex="")


def an_assignor_that_is_not_there_is_refused(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, server_assignor="sticky")


def the_uniform_assignor_is_the_default(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, server_assignor=None)
    group.describe()


def a_subscription_to_nothing_gets_nothing(play: Play) -> None:
    group = ModernGroup(play)
    group.join("one")
    group.describe()


def a_subscription_to_a_topic_that_is_not_there_gets_nothing(play: Play) -> None:
    group = ModernGroup(play)
    group.join("one", Topic(play.name("nowhere"), b""))
    group.describe()


def a_subscription_by_pattern_gets_what_matches(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play, "matched")
    pattern = f"match.*{topic.name[-10:]}"
    wish = {"subscribed_topic_regex": pattern}
    group.join("one", **wish)
    group.join("one", until=lambda told: bool(told.assignment.topic_partitions), **wish)
    group.heartbeat("one")


def a_pattern_that_is_none_is_refused(play: Play) -> None:
    group = ModernGroup(play)
    group.join("one", subscribed_topic_regex="[")


def an_epoch_that_does_not_exist_is_an_invalid_request(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    for epoch in (-2, -3):
        group.heartbeat("one", epoch)
    group.join("one", topic)
    for epoch in (-2, -3):
        group.heartbeat("one", epoch)


def a_heartbeat_in_a_group_that_is_not_there_is_refused(play: Play) -> None:
    group = ModernGroup(play)
    for version in (0, 1):
        group.heartbeat("one", version=version)
        group.heartbeat("one", LEAVES, version=version)


def a_heartbeat_of_somebody_unknown_is_refused(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.heartbeat("two")
    group.heartbeat("two", LEAVES)


def an_epoch_ahead_of_the_members_is_fenced(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    joined = group.join("one", topic)
    group.heartbeat("one", joined.member_epoch + 1)
    group.heartbeat("one", joined.member_epoch + 7)
    group.heartbeat("one", joined.member_epoch - 1)


def the_epoch_before_is_forgiven_only_with_what_the_member_had(play: Play) -> None:
    group, one, two = ModernGroup(play), new_topic(play, "one"), new_topic(play, "two")
    before = group.join("one", one).member_epoch
    group.heartbeat("one", subscribed_topic_names=[one.name, two.name])
    group.heartbeat("one", before)
    group.heartbeat("one", before, owned=Owned(two, (0,)))
    group.heartbeat("one", before, owned=Owned(one, (0, 1)))
    group.heartbeat("one")


def joining_twice_is_answered_twice(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.join("one", topic)
    group.describe()


def a_new_subscription_starts_an_epoch(play: Play) -> None:
    group, one, two = ModernGroup(play), new_topic(play, "one"), new_topic(play, "two")
    group.join("one", one)
    group.heartbeat("one", owned=Owned(one, (0, 1)))
    group.heartbeat("one", subscribed_topic_names=[two.name])
    group.heartbeat("one", owned=Owned(two, ()))
    group.heartbeat("one", owned=Owned(two, (0, 1)))
    group.describe()


def a_member_that_leaves_is_gone(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    epoch = group.epochs["one"]
    group.leave("one")
    group.heartbeat("one", epoch)
    group.describe()
    group.join("one", topic)


def a_group_takes_no_more_members_than_it_may_have(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    for member in ("one", "two", "three", "four"):
        group.join(member, topic)


def a_member_that_falls_silent_is_forgotten(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.until_members(0)
    group.heartbeat("one")


def a_static_member_that_left_for_now_comes_back(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="instance")
    group.leave("one", LEAVES_FOR_NOW, instance_id="instance")
    group.describe()
    group.join("two", topic, instance_id="instance")
    group.heartbeat("one", 2, instance_id="instance")
    group.describe()


def a_static_member_that_left_for_good_is_gone(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="instance")
    group.leave("one", instance_id="instance")
    group.describe()


def an_instance_that_is_in_use_is_not_given_away(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="instance")
    group.join("two", topic, instance_id="instance")


def an_instance_that_is_not_the_members_is_fenced(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="instance")
    group.heartbeat("two", instance_id="instance")
    group.heartbeat("one", instance_id="other")
    group.leave("two", LEAVES_FOR_NOW, instance_id="instance")


def two_members_share_after_one_has_let_go(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.heartbeat("one", owned=Owned(topic, (0, 1)))
    group.join("two", topic)
    group.describe()
    group.heartbeat("two")
    group.heartbeat("one", owned=Owned(topic, (0, 1)))
    group.heartbeat("one", owned=Owned(topic, (0,)))
    group.heartbeat("two")
    group.heartbeat("two", owned=Owned(topic, (1,)))
    group.describe()


def the_one_who_stays_gets_it_all_back(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    group.join("two", topic)
    group.leave("two")
    group.heartbeat("one", owned=Owned(topic, (0, 1)))
    group.heartbeat("one")
    group.describe()


def who_does_not_let_go_in_time_is_fenced(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, rebalance_timeout_ms=300)
    group.join("two", topic)
    group.heartbeat("one", owned=Owned(topic, (0, 1)))
    group.until_members(1)
    group.heartbeat("one")
    group.heartbeat("two")
