"""AddOffsetsToTxn and TxnOffsetCommit: offsets that are committed with a transaction."""

from compat_tests.scenarios.group_steps import Group, Membership
from compat_tests.scenarios.play import Play, Topic
from compat_tests.scenarios.transaction_steps import Producer, until_stable


def every_version_adds_a_group(play: Play) -> None:
    group = Group(play)
    for version in range(5):
        producer = Producer(play, f"transaction {version}")
        producer.init()
        producer.add_offsets(group, version=version)
        producer.describe()


def every_version_commits_offsets_with_the_transaction(play: Play) -> None:
    topic = play.topic()
    for version in range(5):
        group, producer = Group(play, f"group {version}"), Producer(play, f"tx {version}")
        producer.init()
        producer.add_offsets(group)
        producer.commit_offsets(group, topic, version=version)
        group.committed(topic)
        producer.end()
        producer.until_state("CompleteCommit")
        group.committed(topic)


def version_5_adds_the_group_itself(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init(version=5)
    producer.commit_offsets(group, topic, version=5)
    producer.describe()
    producer.end(version=5)
    producer.until_state("CompleteCommit")
    group.committed(topic)


def offsets_of_an_aborted_transaction_are_gone(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    group.commit(topic, offset=2)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, offset=9)
    producer.end(commits=False)
    producer.until_state("CompleteAbort")
    group.committed(topic, require_stable=True)


def offsets_of_an_open_transaction_are_unstable(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    group.commit(topic, offset=2)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, offset=9)
    for version in (7, 8, 9, 10):
        group.committed(topic, version=version, partitions=(0, 1), require_stable=True)
        group.committed(topic, version=version, partitions=(0, 1))
    for version in (5, 7, 9):
        group.committed(version=version)
    for version in (7, 9):
        group.committed(version=version, require_stable=True)


def offsets_are_unstable_before_the_group_ever_committed(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic)
    for version in (7, 9):
        group.committed(topic, version=version, require_stable=True)
        group.committed(version=version, require_stable=True)


def offsets_of_a_group_that_was_not_added_are_refused(play: Play) -> None:
    for version in range(5):
        group, topic = Group(play, f"group {version}"), play.topic(f"topic-{version}")
        producer = Producer(play, f"transaction {version}")
        producer.init()
        producer.commit_offsets(group, topic, version=version)
        group.committed(topic, require_stable=True)


def a_plain_commit_may_come_between(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, offset=4)
    group.commit(topic, offset=8)
    group.committed(topic, require_stable=True)
    producer.end()
    producer.until_state("CompleteCommit")
    group.committed(topic, require_stable=True)


def a_member_commits_with_its_generation(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    member = group.stable_member()
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, member=member)


def another_generation_commits_nothing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    member = group.stable_member()
    producer.init()
    producer.add_offsets(group)
    for version in (3, 4, 5):
        for generation in (member.generation - 1, member.generation + 1):
            late = member._replace(generation=generation)
            producer.commit_offsets(group, topic, member=late, version=version)


def somebody_unknown_commits_nothing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    member = group.stable_member()
    producer.init()
    producer.add_offsets(group)
    for version in (3, 4, 5):
        who = Membership("nobody", member.generation)
        producer.commit_offsets(group, topic, member=who, version=version)


def a_generation_of_an_unknown_group_commits_nothing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    for version in (3, 4, 5):
        producer.commit_offsets(group, topic, member=Membership("nobody", 1), version=version)


def old_versions_name_no_member_and_are_let_through(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    group.stable_member()
    producer.init()
    producer.add_offsets(group)
    for version in (0, 2, 3):
        producer.commit_offsets(group, topic, version=version)


def a_fenced_instance_commits_nothing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    before = group.stable_static_member("instance")
    group.static_member("instance")
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, member=before)


def members_commit_while_others_join(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    first = group.stable_member()
    told = group.join()
    parked = group.join_later(told.member_id)
    group.until_rebalancing(first)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, member=first)
    group.join(first.member_id)
    parked.answer()


def members_do_not_commit_between_joining_and_syncing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    leader, _ = group.second_member(group.stable_member())
    producer.init()
    producer.add_offsets(group)
    for version in (3, 5):
        producer.commit_offsets(group, topic, member=leader, version=version)


def another_epoch_adds_no_group(play: Play) -> None:
    group, producer = Group(play), Producer(play)
    producer.init()
    producer.init()
    for version in range(5):
        producer.add_offsets(group, version=version, producer_epoch=0)
        producer.add_offsets(group, version=version, producer_epoch=2)


def another_producer_id_adds_no_group(play: Play) -> None:
    group, producer = Group(play), Producer(play)
    producer.init()
    for version in range(5):
        producer.add_offsets(group, version=version, producer_id=producer.producer_id + 1000)


def an_unknown_or_empty_transactional_id_adds_no_group(play: Play) -> None:
    group, producer = Group(play), Producer(play)
    for version in range(5):
        producer.add_offsets(group, version=version, producer_id=1, producer_epoch=0)
        producer.add_offsets(
            group, version=version, transactional_id="", producer_id=1, producer_epoch=0
        )


def a_group_without_a_name_is_added_but_commits_nothing(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    group.group_id = ""
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic)
    producer.end(commits=False)
    producer.until_state("CompleteAbort")


def another_epoch_commits_no_offsets(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.init()
    for version in range(6):
        group = Group(play, f"group {version}")
        producer.add_offsets(group)
        producer.commit_offsets(group, topic, version=version, producer_epoch=0)
        producer.commit_offsets(group, topic, version=version, producer_epoch=7)


def another_producer_id_commits_no_offsets(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    group = Group(play)
    producer.add_offsets(group)
    for version in range(6):
        producer.commit_offsets(
            group, topic, version=version, producer_id=producer.producer_id + 1000
        )


def offsets_of_unknown_topics_are_refused(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    for version in (0, 3, 5):
        producer.commit_offsets(group, Topic(play.name("nowhere"), b""), version=version)
        producer.commit_offsets(group, topic, partition=7, version=version)


def metadata_that_is_too_long_is_refused(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, metadata="x" * 65)
    producer.commit_offsets(group, topic, metadata=None)
    producer.end()
    producer.until_state("CompleteCommit")
    group.committed(topic)


def a_group_with_pending_offsets_is_there(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic)
    group.describe()
    group.forget(topic)
    group.delete()
    producer.end()


def two_transactions_of_one_group_settle_one_by_one(play: Play) -> None:
    group, topic = Group(play), play.topic()
    first, second = Producer(play, "first"), Producer(play, "second")
    for producer, offset in ((first, 4), (second, 6)):
        producer.init()
        producer.add_offsets(group)
        producer.commit_offsets(group, topic, offset=offset)
    second.end()
    second.until_state("CompleteCommit")
    group.committed(topic, require_stable=True)
    group.committed(topic)
    first.end()
    first.until_state("CompleteCommit")
    group.committed(topic, require_stable=True)


def an_empty_or_unknown_transactional_id_commits_no_offsets(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    for version in range(6):
        for transactional_id in ("", play.name("nobody")):
            producer.commit_offsets(
                group, topic, version=version, transactional_id=transactional_id
            )


def offsets_of_a_transaction_that_was_ended_are_refused(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic)
    producer.end()
    producer.until_state("CompleteCommit")
    for version in (0, 3, 4):
        producer.commit_offsets(group, topic, version=version, offset=9)
    group.committed(topic, require_stable=True)


def a_fenced_producer_commits_no_offsets(play: Play) -> None:
    group, topic, old = Group(play), play.topic(), Producer(play)
    old.init()
    old.add_offsets(group)
    old.commit_offsets(group, topic)
    Producer(play).init()
    for version in range(6):
        old.commit_offsets(group, topic, version=version)
    group.committed(topic, require_stable=True)


def the_last_offset_of_a_transaction_counts(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, offset=9)
    producer.commit_offsets(group, topic, offset=4, metadata="later")
    producer.end()
    producer.until_state("CompleteCommit")
    group.committed(topic, require_stable=True)


def offsets_and_records_of_version_2_end_together(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    producer.init(version=5)
    for commits in (True, False):
        producer.produce(topic, version=12)
        producer.commit_offsets(group, topic, version=5, offset=7 if commits else 9)
        producer.describe()
        producer.end(version=5, commits=commits)
        producer.until_state("CompleteCommit" if commits else "CompleteAbort")
        group.committed(topic, require_stable=True)
    until_stable(play, topic)


def a_group_of_members_that_left_keeps_pending_offsets(play: Play) -> None:
    group, topic, producer = Group(play), play.topic(), Producer(play)
    member = group.stable_member()
    producer.init()
    producer.add_offsets(group)
    producer.commit_offsets(group, topic, member=member)
    group.leave((member.member_id, None))
    group.committed(topic, require_stable=True)
    producer.end()
    producer.until_state("CompleteCommit")
    group.committed(topic, require_stable=True)
