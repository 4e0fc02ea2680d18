"""Looking at transactions: coordinators, producers, states; and markers that a client writes."""

from compat_tests.scenarios.play import Play, Topic
from compat_tests.scenarios.transaction_steps import (
    READ_UNCOMMITTED,
    Producer,
    describe_producers,
    fetch,
    until_stable,
)
from kwire.codec.apis import (
    DESCRIBE_TRANSACTIONS,
    FIND_COORDINATOR,
    LIST_TRANSACTIONS,
    WRITE_TXN_MARKERS,
)
from kwire.codec.messages.write_txn_markers import TxnMarker, TxnMarkerTopic

TRANSACTION = 1


def every_version_names_the_coordinator_of_a_transactional_id(play: Play) -> None:
    for version in (1, 2, 3):
        play.ask(FIND_COORDINATOR, version, key=play.name("tx"), key_type=TRANSACTION)
    for version in (4, 5, 6):
        keys = [play.name("tx"), play.name("other")]
        play.ask(FIND_COORDINATOR, version, coordinator_keys=keys, key_type=TRANSACTION)


def an_empty_transactional_id_has_a_coordinator(play: Play) -> None:
    play.ask(FIND_COORDINATOR, 3, key="", key_type=TRANSACTION)
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[""], key_type=TRANSACTION)


def each_state_of_a_transaction_is_described(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.describe()
    producer.add(topic, partitions=(0, 1))
    producer.describe()
    producer.end()
    producer.until_state("CompleteCommit")
    producer.add(topic)
    producer.describe()
    producer.end(commits=False)
    producer.until_state("CompleteAbort")


def unknown_transactions_are_not_found(play: Play) -> None:
    play.ask(DESCRIBE_TRANSACTIONS, 0, transactional_ids=[play.name("nobody"), ""])
    play.ask(DESCRIBE_TRANSACTIONS, 0, transactional_ids=[])


def transactions_are_listed_by_state(play: Play) -> None:
    _one_of_each(play)
    for states in ([], ["Ongoing"], ["Empty", "CompleteCommit"], ["ongoing"], ["Odd", "Ongoing"]):
        for version in (0, 1, 2):
            play.ask(LIST_TRANSACTIONS, version, state_filters=states)


def transactions_are_listed_by_producer(play: Play) -> None:
    _, ongoing, _ = _one_of_each(play)
    play.ask(LIST_TRANSACTIONS, 0, producer_id_filters=[ongoing.producer_id])
    play.ask(LIST_TRANSACTIONS, 0, producer_id_filters=[2**50])


def transactions_are_listed_by_how_long_they_run(play: Play) -> None:
    _one_of_each(play)
    play.ask(LIST_TRANSACTIONS, 1, duration_filter=600_000)
    play.ask(LIST_TRANSACTIONS, 1, duration_filter=-1)


def transactions_are_listed_by_a_pattern(play: Play) -> None:
    _one_of_each(play)
    for pattern in ("", "ongo.*", "ongo", "[", ".*" + play.name("committed"), None):
        play.ask(LIST_TRANSACTIONS, 2, transactional_id_pattern=pattern)


def producers_of_an_open_transaction_are_described(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    describe_producers(play, topic, 0)
    producer.begin(topic)
    producer.produce(topic, sequence=1)
    describe_producers(play, topic, 0, 1)
    producer.end()
    until_stable(play, topic)
    describe_producers(play, topic, 0)


def producers_of_version_2_are_described(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5)
    producer.produce(topic, version=12)
    producer.end(version=5)
    until_stable(play, topic)
    describe_producers(play, topic, 0)


def producers_of_unknown_partitions_are_refused(play: Play) -> None:
    describe_producers(play, play.topic(), 7)
    describe_producers(play, Topic(play.name("nowhere"), b""), 0)


def a_client_may_end_a_hanging_transaction(play: Play) -> None:
    for version in (1, 2):
        topic, producer = play.topic(f"topic-{version}"), Producer(play, f"transaction {version}")
        producer.begin(topic)
        _mark(play, version, topic, producer)
        fetch(play, topic)
        describe_producers(play, topic, 0)


def a_marker_of_an_older_coordinator_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.begin(topic)
    _mark(play, 1, topic, producer, coordinator_epoch=5)
    _mark(play, 1, topic, producer, coordinator_epoch=4)
    fetch(play, topic)


def a_marker_of_an_older_epoch_is_refused(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    producer.begin(topic)
    for version in (1, 2):
        _mark(play, version, topic, producer, producer_epoch=0)
    fetch(play, topic)


def a_marker_of_version_2_must_have_the_next_epoch(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init(version=5)
    producer.produce(topic, version=12)
    _mark(play, 2, topic, producer, transaction_version=2)
    _mark(play, 2, topic, producer, transaction_version=2, producer_epoch=producer.epoch + 1)
    fetch(play, topic)


def a_marker_for_a_producer_that_never_wrote_is_written(play: Play) -> None:
    topic, producer = play.topic(), Producer(play)
    producer.init()
    _mark(play, 1, topic, producer)
    fetch(play, topic, READ_UNCOMMITTED)


def a_marker_for_an_unknown_partition_is_refused(play: Play) -> None:
    producer = Producer(play)
    producer.init()
    for version in (1, 2):
        _mark(play, version, Topic(play.name("nowhere"), b""), producer)


def _one_of_each(play: Play) -> tuple[Producer, Producer, Producer]:
    empty, ongoing = Producer(play, "empty"), Producer(play, "ongoing")
    committed, topic = Producer(play, "committed"), play.topic()
    empty.init()
    ongoing.begin(topic)
    committed.begin(topic)
    committed.end()
    committed.until_state("CompleteCommit")
    return empty, ongoing, committed


def _mark(play: Play, version: int, topic: Topic, producer: Producer, **changes: int) -> None:
    marker = TxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        topics=[TxnMarkerTopic(name=topic.name, partition_indexes=[0])],
    )
    for name, value in changes.items():
        setattr(marker, name, value)
    play.ask(WRITE_TXN_MARKERS, version, markers=[marker])
