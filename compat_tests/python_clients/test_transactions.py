"""Transactions as the Python clients run them: atomic, isolated, fenced, with offsets."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.transactional import PRODUCERS, Fenced, Transactional
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

PATIENCE_S = 30.0
COMMITTED = "read_committed"
ALL = "read_uncommitted"

Start = Callable[..., Transactional]


@pytest.fixture
def made(broker: BrokerProcess, topic: str) -> str:
    """A topic of one partition."""
    Confluent(broker.bootstrap).create(topic, partitions=1)
    return topic


@pytest.fixture(params=PRODUCERS)
def start(request: pytest.FixtureRequest, broker: BrokerProcess, topic: str) -> Iterator[Start]:
    """Each call is one more producer with the same transactional id."""
    producers: list[Transactional] = []

    def start(**settings: int) -> Transactional:
        started = PRODUCERS[request.param](broker.bootstrap, f"transactions-{topic}", **settings)
        producers.append(started)
        return started

    yield start
    for producer in producers:
        producer.close()


def _read(broker: BrokerProcess, topic: str, isolation: str) -> list[bytes | None]:
    """Everything up to the end that this isolation level has."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "nobody",
        "isolation.level": isolation,
        "enable.partition.eof": True,
        "enable.auto.commit": False,
        "log_level": 0,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes | None] = []
    try:
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            if message.error() is not None:
                return values
            values.append(message.value())
    finally:
        consumer.close()


def _committed_offset(broker: BrokerProcess, group: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "log_level": 0})
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=PATIENCE_S)
        return int(found.offset)
    finally:
        consumer.close()


def test_a_transaction_is_seen_as_a_whole(broker: BrokerProcess, made: str, start: Start) -> None:
    producer = start()
    producer.begin()
    for value in (b"a", b"b"):
        producer.send(made, value)
    assert _read(broker, made, COMMITTED) == []
    assert _read(broker, made, ALL) == [b"a", b"b"]
    producer.commit()
    assert eventually(lambda: _read(broker, made, COMMITTED), len) == [b"a", b"b"]


def test_what_was_aborted_is_never_seen(broker: BrokerProcess, made: str, start: Start) -> None:
    producer = start()
    for value, end in ((b"a", producer.commit), (b"x", producer.abort), (b"b", producer.commit)):
        producer.begin()
        producer.send(made, value)
        end()
    seen = eventually(lambda: _read(broker, made, COMMITTED), lambda values: len(values) == 2)
    assert seen == [b"a", b"b"]
    assert _read(broker, made, ALL) == [b"a", b"x", b"b"]


def test_each_transaction_takes_one_more_offset(
    broker: BrokerProcess, made: str, start: Start
) -> None:
    producer = start()
    for end in (producer.commit, producer.abort):
        producer.begin()
        producer.send(made, b"value")
        end()
    admin, where = AdminClient({"bootstrap.servers": broker.bootstrap}), TopicPartition(made, 0)

    def end_offset() -> int:
        asked = admin.list_offsets({where: OffsetSpec.latest()}, request_timeout=PATIENCE_S)
        return int(asked[where].result().offset)

    assert eventually(end_offset, lambda offset: offset >= 4) == 4


def test_a_newer_producer_fences_the_older(broker: BrokerProcess, made: str, start: Start) -> None:
    older = start()
    older.begin()
    older.send(made, b"lost")
    newer = start()
    with pytest.raises(Fenced):
        _write_and_commit(older, made, b"late")
    newer.begin()
    newer.send(made, b"kept")
    newer.commit()
    assert eventually(lambda: _read(broker, made, COMMITTED), len) == [b"kept"]


def _write_and_commit(producer: Transactional, topic: str, value: bytes) -> None:
    producer.send(topic, value)
    producer.commit()


def test_offsets_are_committed_with_the_records(
    broker: BrokerProcess, made: str, start: Start
) -> None:
    group = f"group-of-{made}"
    producer = start()
    for offset, end in ((3, producer.commit), (9, producer.abort)):
        producer.begin()
        producer.send(made, b"value")
        producer.send_offset(group, made, offset)
        end()
    assert _committed_offset(broker, group, made) == 3


def test_a_transaction_that_takes_too_long_is_aborted(
    broker: BrokerProcess, made: str, start: Start
) -> None:
    slow = start(timeout_ms=1500)
    slow.begin()
    slow.send(made, b"late")
    Confluent(broker.bootstrap).write(made, [Sent(b"plain")])
    assert eventually(lambda: _read(broker, made, COMMITTED), len, PATIENCE_S) == [b"plain"]
    with pytest.raises(Fenced):
        slow.commit()


def test_records_are_copied_exactly_once(broker: BrokerProcess, topic: str) -> None:
    """Consume, transform and produce, with every third transaction aborted and tried again."""
    source, target = f"{topic}-source", f"{topic}-target"
    client = Confluent(broker.bootstrap)
    for name in (source, target):
        client.create(name, partitions=1)
    client.write(source, [Sent(b"%d" % number) for number in range(50)])
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": f"group-of-{topic}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": COMMITTED,
        }
    )
    consumer.subscribe([source])
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(PATIENCE_S)
    turns = 0
    while _copied_to(consumer) < 50:
        taken = consumer.consume(7, PATIENCE_S if turns == 0 else 1)
        turns += 1
        producer.begin_transaction()
        for message in taken:
            producer.produce(target, message.value())
        positions = consumer.position(consumer.assignment())
        metadata = consumer.consumer_group_metadata()
        if taken and turns % 3 == 0:
            producer.abort_transaction(PATIENCE_S)
            consumer.seek(TopicPartition(source, 0, taken[0].offset()))
        else:
            producer.send_offsets_to_transaction(positions, metadata, PATIENCE_S)
            producer.commit_transaction(PATIENCE_S)
    consumer.close()
    copied = eventually(lambda: _read(broker, target, COMMITTED), lambda all_: len(all_) >= 50)
    assert copied == [b"%d" % number for number in range(50)]


def _copied_to(consumer: Consumer) -> int:
    """How far the group has come, for good; an offset in doubt is asked for again."""
    if not consumer.assignment():
        return 0
    try:
        (found,) = consumer.committed(consumer.assignment(), timeout=PATIENCE_S)
    except KafkaException:
        return 0
    return int(found.offset)
