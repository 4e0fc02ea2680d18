"""Produce inside transactions: what may be written, by whom, and when."""

from compat_tests.scenarios.play import Play
from compat_tests.scenarios.transaction_steps import (
    READ_UNCOMMITTED,
    Producer,
    describe_producers,
    fetch,
)

VERSIONS = (3, 7, 9, 10, 11)


def records_are_taken_after_their_partition_was_added(play: Play) -> None:
    for version in VERSIONS:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic)
        producer.produce(topic, version=version)
        producer.produce(topic, version=version, sequence=1)


def records_of_a_partition_that_was_not_added_are_refused(play: Play) -> None:
    for version in VERSIONS:
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.produce(topic, version=version)
        producer.add(topic)
        producer.produce(topic, version=version, partition=1)
        fetch(play, topic, READ_UNCOMMITTED, partition=1)


def version_12_and_13_add_the_partition_themselves(play: Play) -> None:
    for version in (12, 13):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.produce(topic, version=version)
        producer.describe()
        producer.produce(topic, version=version, sequence=1)
        producer.end(version=5)


def a_fenced_producer_writes_nothing(play: Play) -> None:
    for version in (*VERSIONS, 12):
        topic, old = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        old.begin(topic)
        Producer(play, f"transaction {version}").init()
        old.produce(topic, version=version, sequence=1)


def an_epoch_that_was_never_given_out_writes_nothing(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic)
        producer.produce(topic, version=version, epoch=5)


def a_producer_id_of_somebody_else_writes_nothing(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic)
        producer.produce(topic, version=version, producer_id=producer.producer_id + 1000)


def a_transactional_id_that_nobody_has_writes_nothing(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic)
        producer.produce(topic, version=version, transactional_id=play.name("nobody"))


def a_transactional_batch_without_a_transactional_id_is_refused(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic)
        producer.produce(topic, version=version, transactional_id=None)


def a_plain_batch_inside_a_transaction_is_refused(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        producer.produce(topic, version=version, sequence=1, transactional=False)


def a_plain_batch_outside_a_transaction_is_taken(play: Play) -> None:
    for version in (3, 11, 12):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.init()
        producer.produce(topic, version=version, transactional=False)
        producer.describe()
        fetch(play, topic)


def a_batch_after_the_commit_needs_the_partition_again(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end()
    producer.until_state("CompleteCommit")
    producer.produce(topic, sequence=1)
    producer.add(topic)
    producer.produce(topic, sequence=1)


def a_batch_after_the_abort_needs_the_partition_again(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end(commits=False)
    producer.until_state("CompleteAbort")
    producer.produce(topic, sequence=1)
    producer.add(topic)
    producer.produce(topic, sequence=1)


def the_first_batch_of_a_new_epoch_starts_its_count_over(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.end()
    producer.bump()
    producer.add(topic)
    producer.produce(topic, sequence=1)
    producer.produce(topic, sequence=0)


def a_batch_inside_a_transaction_that_comes_twice_is_written_once(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.produce(topic, sequence=1)
    producer.produce(topic, sequence=1)
    producer.produce(topic, sequence=0)
    fetch(play, topic, READ_UNCOMMITTED)


def a_gap_inside_a_transaction_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    producer.produce(topic, sequence=3)


def the_first_batch_of_a_transaction_may_have_any_sequence(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.add(topic)
    producer.produce(topic, sequence=4)


def the_old_epoch_after_a_commit_of_version_5_writes_nothing(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    old = producer.epoch
    producer.end(version=5)
    producer.until_state("CompleteCommit")
    producer.produce(topic, version=12, epoch=old, sequence=1)
    producer.produce(topic, version=12)
    describe_producers(play, topic, 0)
