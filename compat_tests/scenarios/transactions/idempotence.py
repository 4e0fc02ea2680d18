"""Idempotent producers: sequences and epochs, without any transaction."""

from compat_tests.scenarios.play import Play
from compat_tests.scenarios.transaction_steps import (
    READ_UNCOMMITTED,
    Producer,
    describe_producers,
    fetch,
)


def a_batch_that_comes_twice_is_written_once(play: Play) -> None:
    for version in (3, 7, 9, 11, 12, 13):
        topic, producer = play.topic(f"topic-{version}"), _producer(play)
        producer.produce(topic, version=version, count=3)
        producer.produce(topic, version=version, count=3)
        fetch(play, topic, READ_UNCOMMITTED)


def each_of_the_last_five_batches_is_known_again(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    for sequence in range(6):
        producer.produce(topic, sequence=sequence)
    for sequence in range(1, 6):
        producer.produce(topic, sequence=sequence)


def the_sixth_last_batch_is_forgotten(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    for sequence in range(6):
        producer.produce(topic, sequence=sequence)
    producer.produce(topic, sequence=0)


def a_gap_is_refused(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic)
    for version in (3, 7, 11):
        producer.produce(topic, sequence=2, version=version)
    producer.produce(topic, sequence=1)


def part_of_a_batch_is_no_duplicate(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, count=4)
    producer.produce(topic, sequence=0, count=2)
    producer.produce(topic, sequence=2, count=2)
    producer.produce(topic, sequence=0, count=5)
    producer.produce(topic, sequence=3, count=2)


def an_unknown_producer_may_start_anywhere(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, sequence=5)
    producer.produce(topic, sequence=6)
    producer.produce(topic, sequence=0)


def a_producer_id_that_was_never_given_out_may_write(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, producer_id=2**40, epoch=3)


def a_new_epoch_starts_at_zero(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic)
    producer.produce(topic, epoch=1, sequence=1)
    producer.produce(topic, epoch=1, sequence=0)
    producer.produce(topic, epoch=1, sequence=1)


def an_old_epoch_is_refused(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, epoch=2)
    for version in (3, 9, 11, 12):
        producer.produce(topic, epoch=1, sequence=1, version=version)
        producer.produce(topic, epoch=1, sequence=0, version=version)


def a_duplicate_of_an_old_epoch_is_refused(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic)
    producer.produce(topic, epoch=1)
    producer.produce(topic)


def partitions_count_for_themselves(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, partition=0)
    producer.produce(topic, partition=1)
    producer.produce(topic, partition=1, sequence=1)
    producer.produce(topic, partition=0, sequence=1)


def sequences_start_over_after_the_largest(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, sequence=2**31 - 2)
    producer.produce(topic, sequence=2**31 - 1)
    producer.produce(topic, sequence=0)
    producer.produce(topic, sequence=1)


def a_batch_over_the_largest_sequence_goes_on_below(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, sequence=2**31 - 2, count=4)
    producer.produce(topic, sequence=2)
    producer.produce(topic, sequence=2**31 - 2, count=4)


def a_producer_without_a_sequence_is_refused(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, sequence=-1)
    producer.produce(topic, sequence=-5)


def a_producer_may_have_no_epoch(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, epoch=-1)


def a_batch_without_a_producer_needs_no_sequence(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    for _ in range(2):
        producer.produce(topic, producer_id=-1, epoch=-1, sequence=-1)
    fetch(play, topic, READ_UNCOMMITTED)


def a_transactional_batch_of_an_idempotent_producer_is_refused(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    for version in (3, 11, 12):
        producer.produce(topic, transactional=True, version=version)


def an_empty_transactional_id_does_not_make_a_transaction(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, transactional_id="")


def the_state_of_a_producer_is_told(play: Play) -> None:
    topic, producer = play.topic(), _producer(play)
    producer.produce(topic, count=3)
    describe_producers(play, topic, 0, 1)
    producer.produce(topic, epoch=1, count=2)
    describe_producers(play, topic, 0)


def _producer(play: Play) -> Producer:
    producer = Producer(play, None)
    producer.init()
    return producer
