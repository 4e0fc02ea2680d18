"""Groups of the new protocol (KIP-848) seen from outside: offsets, listings, and both protocols."""

from compat_tests.scenarios.group_steps import Group, Membership, assignment, subscription
from compat_tests.scenarios.modern_steps import LEAVES, ModernGroup, Owned, new_topic
from compat_tests.scenarios.play import Play, Topic
from compat_tests.scenarios.transaction_steps import Producer
from kwire.codec.apis import CONSUMER_GROUP_DESCRIBE, LIST_GROUPS

FIRST = "!"
"""An id that sorts before every one that a broker makes up, so that it is served first."""


def a_member_commits_in_its_epoch(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic)
    classic = Group(play)
    for version in (2, 8, 9, 10):
        classic.commit(topic, member=group.membership("one"), version=version, offset=version)
    classic.committed(topic)


def another_epoch_commits_nothing(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    for version in (2, 8, 9, 10):
        for ahead in (-1, 1):
            late = group.membership("one", ahead=ahead)
            classic.commit(topic, member=late, version=version)


def somebody_unknown_commits_nothing(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    for version in (8, 9, 10):
        classic.commit(topic, member=Membership("two", 1), version=version)
        classic.commit(topic, member=Membership("", 1), version=version)
        classic.commit(topic, version=version)


def a_group_that_everybody_left_takes_commits_from_outside(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    member = group.membership("one")
    group.leave("one")
    classic.commit(topic, member=member)
    classic.commit(topic)
    classic.committed(topic)


def members_read_offsets_in_their_epoch(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    classic.commit(topic, member=group.membership("one"))
    for version in (9, 10):
        for ahead in (0, 1, -1):
            epoch = group.membership("one", ahead=ahead).generation
            group.committed(topic, "one", epoch, version=version)
        group.committed(topic, "two", 1, version=version)
        group.committed(topic, "", -1, version=version)


def transactions_commit_in_the_epoch_of_a_member(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    producer = Producer(play)
    group.join("one", topic)
    producer.init()
    producer.add_offsets(classic)
    for version in (3, 4, 5):
        for ahead in (0, -1, 1):
            member = group.membership("one", ahead=ahead)
            producer.commit_offsets(classic, topic, member=member, version=version)
        stranger = Membership("two", 1)
        producer.commit_offsets(classic, topic, member=stranger, version=version)
        producer.commit_offsets(classic, topic, version=version)
    producer.end(commits=False)


def a_group_with_members_cannot_be_deleted(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    classic.delete()
    group.leave("one")
    classic.delete()
    group.describe()


def offsets_of_a_subscribed_topic_are_kept(play: Play) -> None:
    group, read, unread = ModernGroup(play), new_topic(play, "read"), new_topic(play, "unread")
    classic = Group(play)
    group.join("one", read)
    member = group.membership("one")
    classic.commit(read, member=member)
    classic.commit(unread, member=member)
    classic.forget(read, unread)
    classic.committed(read, unread)


def groups_are_described_in_every_version(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    group.join("one", topic, instance_id="instance", rack_id="rack")
    for version in (0, 1):
        group.describe(version=version)
        group.describe(version=version, include_authorized_operations=True)


def groups_that_are_not_there_are_not_found(play: Play) -> None:
    for version in (0, 1):
        play.ask(CONSUMER_GROUP_DESCRIBE, version, group_ids=[play.name("nobody"), ""])
        play.ask(CONSUMER_GROUP_DESCRIBE, version, group_ids=[])


def a_classic_group_is_not_described_as_a_new_one(play: Play) -> None:
    Group(play).stable_member()
    ModernGroup(play).describe()


def a_new_group_is_not_described_as_a_classic_one(play: Play) -> None:
    ModernGroup(play).join("one", new_topic(play))
    for version in (0, 5, 6):
        Group(play).describe(version=version)


def new_groups_are_listed_by_type_and_state(play: Play) -> None:
    group, topic = ModernGroup(play), new_topic(play)
    ModernGroup(play, "stable").join("one", topic)
    empty = ModernGroup(play, "empty")
    empty.join("one", topic)
    empty.leave("one")
    group.join("one", topic)
    group.join("two", topic)
    for types in ([], ["consumer"], ["Consumer"], ["classic"]):
        play.ask(LIST_GROUPS, 5, types_filter=types)
    for states in (["Stable"], ["Empty"], ["Reconciling"], ["reconciling"], ["Assigning"]):
        play.ask(LIST_GROUPS, 5, states_filter=states)
    for version in (0, 3, 4):
        play.ask(LIST_GROUPS, version)


def a_new_member_can_leave_by_a_classic_request_and_no_more(play: Play) -> None:
    group, topic, classic = ModernGroup(play), new_topic(play), Group(play)
    group.join("one", topic)
    member = group.membership("one")
    classic.heartbeat(member)
    classic.sync(member)
    classic.leave(("one", None))
    classic.join("one")


def a_member_of_another_protocol_type_cannot_join_a_new_group(play: Play) -> None:
    ModernGroup(play).join("one", new_topic(play))
    classic = Group(play)
    for version in (3, 9):
        classic.join(version=version, protocol_type="connect")
        classic.join(version=version, protocols=())


def a_new_member_takes_over_a_classic_group_that_everybody_left(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    member = classic.stable_member()
    classic.commit(topic, member=member)
    classic.leave((member.member_id, None))
    group.join("one", topic)
    group.describe()
    classic.committed(topic)


def a_classic_member_takes_over_a_new_group_that_everybody_left(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    group.join("one", topic)
    classic.commit(topic, member=group.membership("one"))
    group.leave("one")
    classic.stable_member()
    classic.describe()
    classic.committed(topic)


def a_new_member_does_not_join_a_classic_group_of_another_type(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    told = classic.join(protocol_type="connect")
    classic.join(told.member_id, protocol_type="connect")
    group.join("one", topic)


def a_classic_group_with_assignments_that_nobody_can_read_stays_classic(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    protocols = (("range", subscription(topic.name)),)
    member = classic.stable_member(protocols=protocols)
    group.join("one", topic)
    classic.heartbeat(member)
    group.describe()


def a_group_with_a_classic_member_is_upgraded(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    member = _consumer_of_old(classic, topic)
    group.join("one", topic)
    classic.heartbeat(member)
    group.describe()
    classic.describe()


def an_upgraded_group_shares_once_the_classic_member_has_joined_again(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    protocols = (("range", subscription(topic.name)),)
    member = _consumer_of_old(classic, topic)
    group.join("one", topic)
    classic.heartbeat(member)
    again = classic.join(member.member_id, protocols=protocols)
    member = member._replace(generation=again.generation_id)
    classic.sync(member)
    classic.heartbeat(member)
    group.heartbeat("one")
    group.describe()


def a_group_whose_last_new_member_leaves_is_downgraded(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    member = _consumer_of_old(classic, topic)
    group.join("one", topic)
    group.leave("one")
    classic.describe()
    classic.heartbeat(member)
    group.describe()


def a_classic_member_joins_a_new_group(play: Play) -> None:
    classic, group, topic = Group(play), ModernGroup(play), new_topic(play)
    protocols = (("range", subscription(topic.name)),)
    group.join(FIRST, topic)
    group.heartbeat(FIRST, owned=Owned(topic, (0, 1)))
    told = classic.join(protocols=protocols)
    joined = classic.join(told.member_id, protocols=protocols)
    classic.heartbeat(Membership(joined.member_id, joined.generation_id))
    group.heartbeat(FIRST, owned=Owned(topic, (0,)))


def leaving_a_classic_group_with_a_new_heartbeat_is_refused(play: Play) -> None:
    classic, group = Group(play), ModernGroup(play)
    member = classic.stable_member()
    group.heartbeat(member.member_id, 1)
    group.heartbeat(member.member_id, LEAVES)


def _consumer_of_old(classic: Group, topic: Topic) -> Membership:
    """A classic member whose subscription and assignment are those of a real consumer."""
    member = classic.new_member(protocols=(("range", subscription(topic.name)),))
    classic.sync(member, {member.member_id: assignment(topic.name, 0, 1)})
    return member
