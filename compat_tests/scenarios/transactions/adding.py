"""AddPartitionsToTxn: which partitions a transaction writes to."""

from compat_tests.scenarios.play import Play, Topic
from compat_tests.scenarios.transaction_steps import Producer
from kwire.codec.apis import ADD_PARTITIONS_TO_TXN
from kwire.codec.messages.add_partitions_to_txn import (
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

VERSIONS = range(4)


def every_version_adds_partitions(play: Play) -> None:
    topic = play.topic()
    for version in VERSIONS:
        producer = Producer(play, f"transaction {version}")
        producer.init()
        producer.add(topic, partitions=(0, 1), version=version)
        producer.describe()


def adding_again_changes_nothing(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.add(topic)
    producer.add(topic)
    producer.add(topic, partitions=(1,))
    producer.describe()


def many_topics_are_added_at_once(play: Play) -> None:
    producer = Producer(play)
    producer.init()
    producer.add(play.topic("one"), play.topic("two"), partitions=(0, 1))
    producer.describe()


def one_topic_that_does_not_exist_keeps_all_out(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    for version in VERSIONS:
        producer.add(topic, Topic(play.name("nowhere"), b""), version=version)
    producer.describe()


def one_partition_that_does_not_exist_keeps_all_out(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.add(topic, partitions=(0, 7))
    producer.describe()


def adding_nothing_opens_the_transaction_all_the_same(play: Play) -> None:
    producer = Producer(play)
    producer.init()
    producer.add()
    producer.describe()


def another_epoch_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.init()
    for version in VERSIONS:
        producer.add(topic, version=version, producer_epoch=0)
        producer.add(topic, version=version, producer_epoch=2)


def another_producer_id_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    for version in VERSIONS:
        producer.add(topic, version=version, producer_id=producer.producer_id + 1000)


def an_unknown_transactional_id_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    for version in VERSIONS:
        producer.add(topic, version=version, producer_id=1, producer_epoch=0)


def an_empty_transactional_id_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    for version in VERSIONS:
        producer.add(topic, version=version, transactional_id="", producer_id=1, producer_epoch=0)


def a_fenced_producer_adds_nothing(play: Play) -> None:
    topic, old = play.topic(), Producer(play)
    old.begin(topic)
    Producer(play).init()
    for version in VERSIONS:
        old.add(topic, version=version)


def the_next_transaction_starts_empty(play: Play) -> None:
    one, two, producer = play.topic("one"), play.topic("two"), Producer(play)
    producer.begin(one)
    producer.end()
    producer.add(two)
    producer.describe()


def brokers_add_for_many_producers_at_once(play: Play) -> None:
    topic = play.topic()
    for version in (4, 5):
        one, two = Producer(play, f"one {version}"), Producer(play, f"two {version}")
        one.init()
        two.init()
        _ask_as_broker(play, version, topic, one, two)
        one.describe()


def brokers_may_only_look_whether_partitions_are_in(play: Play) -> None:
    topic = play.topic()
    for version in (4, 5):
        producer = Producer(play, f"transaction {version}")
        producer.init()
        _ask_as_broker(play, version, topic, producer, verify_only=True)
        producer.add(topic)
        _ask_as_broker(play, version, topic, producer, verify_only=True)
        producer.describe()


def brokers_look_with_the_epoch_of_the_producer(play: Play) -> None:
    topic, old = play.topic(), Producer(play)
    old.begin(topic)
    Producer(play).init()
    for version in (4, 5):
        _ask_as_broker(play, version, topic, old, verify_only=True)
        _ask_as_broker(play, version, topic, old)


def _ask_as_broker(
    play: Play, version: int, topic: Topic, *producers: Producer, verify_only: bool = False
) -> None:
    named = [AddPartitionsToTxnTopic(name=topic.name, partitions=[0])]
    transactions = [
        AddPartitionsToTxnTransaction(
            transactional_id=one.transactional_id or "",
            producer_id=one.producer_id,
            producer_epoch=one.epoch,
            verify_only=verify_only,
            topics=named,
        )
        for one in producers
    ]
    play.ask(ADD_PARTITIONS_TO_TXN, version, transactions=transactions)
