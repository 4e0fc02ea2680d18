"""EndTxn: committing and aborting, once, twice, and out of place."""

from compat_tests.scenarios.play import Play
from compat_tests.scenarios.transaction_steps import (
    READ_UNCOMMITTED,
    Producer,
    fetch,
    until_stable,
)

VERSIONS = range(6)


def every_version_commits(play: Play) -> None:
    for version in VERSIONS:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version)
        producer.until_state("CompleteCommit")
        until_stable(play, topic)


def every_version_aborts(play: Play) -> None:
    for version in VERSIONS:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version, commits=False)
        producer.until_state("CompleteAbort")
        until_stable(play, topic)


def committing_before_anything_was_added_is_refused(play: Play) -> None:
    for version in VERSIONS:
        producer = Producer(play, f"transaction {version}")
        producer.init()
        producer.end(version=version)
        producer.describe()


def aborting_before_anything_was_added_is_refused_below_version_5(play: Play) -> None:
    for version in VERSIONS:
        producer = Producer(play, f"transaction {version}")
        producer.init()
        producer.end(version=version, commits=False)
        producer.describe()


def committing_partitions_that_nothing_was_written_to_is_fine(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.add(topic)
    producer.end()
    producer.until_state("CompleteCommit")
    fetch(play, topic, READ_UNCOMMITTED)


def committing_twice_is_answered_twice(play: Play) -> None:
    for version in VERSIONS[:5]:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version)
        producer.end(version=version)


def aborting_twice_is_answered_twice(play: Play) -> None:
    for version in VERSIONS[:5]:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version, commits=False)
        producer.end(version=version, commits=False)


def a_committed_transaction_cannot_be_aborted(play: Play) -> None:
    for version in VERSIONS[:5]:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version)
        producer.end(version=version, commits=False)
        producer.describe()


def an_aborted_transaction_cannot_be_committed(play: Play) -> None:
    for version in VERSIONS[:5]:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.end(version=version, commits=False)
        producer.end(version=version)
        producer.describe()


def version_5_repeated_with_the_old_epoch_is_answered_with_the_new_one(play: Play) -> None:
    for commits in (True, False):
        topic, producer = play.topic(f"topic-{commits}"), Producer(play, f"transaction {commits}")
        producer.begin(topic)
        producer.end(version=5, commits=commits)
        producer.until_state("CompleteCommit" if commits else "CompleteAbort")
        producer.end(version=5, commits=commits, producer_epoch=0)


def version_5_repeated_with_the_old_epoch_and_the_opposite_is_refused(play: Play) -> None:
    for commits in (True, False):
        topic, producer = play.topic(f"topic-{commits}"), Producer(play, f"transaction {commits}")
        producer.begin(topic)
        producer.end(version=5, commits=commits)
        producer.until_state("CompleteCommit" if commits else "CompleteAbort")
        producer.end(version=5, commits=not commits, producer_epoch=0)


def version_5_with_the_new_epoch_has_nothing_to_commit(play: Play) -> None:
    for ended in (True, False):
        topic, producer = play.topic(f"topic-{ended}"), Producer(play, f"transaction {ended}")
        producer.begin(topic)
        producer.end(version=5, commits=ended)
        producer.until_state("CompleteCommit" if ended else "CompleteAbort")
        producer.end(version=5)


def version_5_with_the_new_epoch_may_abort_nothing(play: Play) -> None:
    for ended in (True, False):
        topic, producer = play.topic(f"topic-{ended}"), Producer(play, f"transaction {ended}")
        producer.begin(topic)
        producer.end(version=5, commits=ended)
        producer.until_state("CompleteCommit" if ended else "CompleteAbort")
        producer.end(version=5, commits=False)
        producer.describe()


def another_epoch_ends_nothing(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.begin(topic)
    for version in VERSIONS:
        producer.end(version=version, producer_epoch=0)
        producer.end(version=version, producer_epoch=2)
    producer.describe()


def another_producer_id_ends_nothing(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    for version in VERSIONS:
        producer.end(version=version, producer_id=producer.producer_id + 1000)
    producer.describe()


def an_unknown_transactional_id_ends_nothing(play: Play) -> None:
    producer = Producer(play)
    for version in VERSIONS:
        producer.end(version=version, producer_id=1, producer_epoch=0)


def an_empty_transactional_id_is_an_invalid_request(play: Play) -> None:
    producer = Producer(play)
    for version in VERSIONS:
        producer.end(version=version, transactional_id="", producer_id=1, producer_epoch=0)


def a_producer_commits_one_transaction_after_the_other(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    for sequence in range(3):
        producer.add(topic)
        producer.produce(topic, sequence=sequence)
        producer.end(commits=sequence != 1)
    until_stable(play, topic)


def a_transaction_is_ended_by_whoever_knows_its_producer(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    resumed = Producer(play)
    resumed.producer_id, resumed.epoch = producer.producer_id, producer.epoch
    resumed.end()
    resumed.until_state("CompleteCommit")


def transactions_of_version_2_follow_each_other(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5)
    for commits in (True, False, True):
        producer.produce(topic, version=12)
        producer.end(version=5, commits=commits)
    until_stable(play, topic)


def a_transaction_of_version_2_may_start_right_after_the_last(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5)
    producer.produce(topic, version=12)
    producer.end(version=5)
    producer.produce(topic, version=12)
    producer.produce(topic, version=12, sequence=1)
    producer.describe()
