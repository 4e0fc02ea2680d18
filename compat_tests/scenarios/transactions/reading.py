"""Fetch and ListOffsets around transactions: what readers of committed records get to see."""

from compat_tests.scenarios.play import Play, Topic
from compat_tests.scenarios.transaction_steps import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Producer,
    fetch,
    list_offset,
    until_stable,
)

VERSIONS = range(4, 19)


def an_open_transaction_is_seen_by_those_who_read_everything(play: Play) -> None:
    topic = play.topic()
    Producer(play).begin(topic)
    for version in VERSIONS:
        fetch(play, topic, READ_UNCOMMITTED, version=version)


def an_open_transaction_is_not_seen_by_those_who_read_committed(play: Play) -> None:
    topic = play.topic()
    Producer(play).begin(topic)
    for version in VERSIONS:
        fetch(play, topic, READ_COMMITTED, version=version)


def a_committed_transaction_is_seen_with_its_marker(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end()
    until_stable(play, topic)
    for version in VERSIONS:
        fetch(play, topic, READ_COMMITTED, version=version)
    fetch(play, topic, READ_UNCOMMITTED)


def an_aborted_transaction_is_named(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end(commits=False)
    until_stable(play, topic)
    for version in VERSIONS:
        fetch(play, topic, READ_COMMITTED, version=version)
    fetch(play, topic, READ_UNCOMMITTED)


def an_aborted_transaction_is_named_wherever_reading_starts(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.produce(topic, sequence=1)
    producer.end(commits=False)
    until_stable(play, topic)
    for offset in range(4):
        fetch(play, topic, offset=offset)


def records_behind_an_open_transaction_wait_for_it(play: Play) -> None:
    topic, producer, plain = play.topic(), Producer(play), _plain(play)
    plain.produce(topic)
    producer.begin(topic)
    plain.produce(topic, sequence=1)
    fetch(play, topic, READ_COMMITTED)
    fetch(play, topic, READ_UNCOMMITTED)
    producer.end()
    until_stable(play, topic)


def the_oldest_open_transaction_decides(play: Play) -> None:
    topic, first, second = play.topic(), Producer(play, "first"), Producer(play, "second")
    first.begin(topic)
    second.begin(topic)
    second.end()
    second.until_state("CompleteCommit")
    fetch(play, topic)
    first.end()
    until_stable(play, topic)


def aborted_transactions_that_overlap_are_all_named(play: Play) -> None:
    topic, first, second = play.topic(), Producer(play, "first"), Producer(play, "second")
    first.begin(topic)
    second.begin(topic)
    first.end(commits=False)
    first.until_state("CompleteAbort")
    second.end(commits=False)
    until_stable(play, topic)


def aborted_transactions_that_end_in_another_order_are_all_named(play: Play) -> None:
    topic, first, second = play.topic(), Producer(play, "first"), Producer(play, "second")
    first.begin(topic)
    second.begin(topic)
    second.end(commits=False)
    second.until_state("CompleteAbort")
    first.end(commits=False)
    until_stable(play, topic)


def only_aborted_transactions_in_reach_are_named(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    for sequence in range(3):
        producer.add(topic)
        producer.produce(topic, sequence=sequence)
        producer.end(commits=False)
    producer.until_state("CompleteAbort")
    for offset in range(7):
        fetch(play, topic, offset=offset)


def the_end_for_readers_of_committed_records_is_before_what_is_open(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    _plain(play).produce(topic)
    producer.begin(topic)
    _list_ends(play, topic)
    producer.end()
    until_stable(play, topic)
    _list_ends(play, topic)


def a_look_up_by_time_ends_before_what_is_open(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    for isolation in (READ_COMMITTED, READ_UNCOMMITTED):
        list_offset(play, topic, isolation, timestamp=1)
    producer.end()
    until_stable(play, topic)
    for isolation in (READ_COMMITTED, READ_UNCOMMITTED):
        list_offset(play, topic, isolation, timestamp=1)


def reading_at_and_beyond_the_stable_end_gives_nothing(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    _plain(play).produce(topic)
    producer.begin(topic)
    producer.produce(topic, sequence=1)
    for offset in (1, 2, 3, 4):
        fetch(play, topic, READ_COMMITTED, offset=offset)
        fetch(play, topic, READ_UNCOMMITTED, offset=offset)


def a_committed_transaction_in_two_partitions_has_a_marker_in_each(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.add(topic, partitions=(0, 1))
    producer.produce(topic)
    producer.produce(topic, partition=1)
    producer.end()
    producer.until_state("CompleteCommit")
    for partition in (0, 1):
        fetch(play, topic, partition=partition)


def a_transaction_of_version_2_is_marked_with_the_next_epoch(play: Play) -> None:
    for commits in (True, False):
        topic, producer = play.topic(f"topic-{commits}"), Producer(play, f"transaction {commits}")
        producer.init(version=5)
        producer.produce(topic, version=12)
        producer.end(version=5, commits=commits)
        until_stable(play, topic)


def a_transaction_that_began_before_plain_records_holds_back_the_end(play: Play) -> None:
    topic, first, second = play.topic(), Producer(play, "first"), Producer(play, "second")
    plain = _plain(play)
    first.begin(topic)
    plain.produce(topic)
    second.begin(topic)
    first.end(commits=False)
    first.until_state("CompleteAbort")
    fetch(play, topic)
    list_offset(play, topic)
    second.end()
    until_stable(play, topic)


def a_producer_that_aborts_and_commits_is_named_only_for_what_it_aborted(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5)
    for commits in (False, True, False):
        producer.produce(topic, version=12)
        producer.end(version=5, commits=commits)
    until_stable(play, topic)
    for offset in range(6):
        fetch(play, topic, offset=offset)


def a_fenced_transaction_is_marked_as_aborted(play: Play) -> None:
    topic, old = play.topic(), Producer(play)
    old.begin(topic)
    Producer(play).init()
    until_stable(play, topic)


def _plain(play: Play) -> Producer:
    producer = Producer(play, None)
    producer.init()
    return producer


def _list_ends(play: Play, topic: Topic) -> None:
    for isolation in (READ_COMMITTED, READ_UNCOMMITTED):
        for timestamp in (EARLIEST, LATEST):
            list_offset(play, topic, isolation, timestamp)
