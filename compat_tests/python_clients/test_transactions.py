"""Transactions of the Python clients: all or nothing, and only one producer of a name."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.transactors import TRANSACTORS, Transactor
from compat_tests.python_clients.values import Refused, Sent

Begin = Callable[[str], Transactor]


@pytest.fixture(params=TRANSACTORS)
def begin(request: pytest.FixtureRequest, broker: BrokerProcess, topic: str) -> Iterator[Begin]:
    """Each call is a producer of that transactional id, with a transaction that has begun."""
    Confluent(broker.bootstrap).create(topic)
    made: list[Transactor] = []

    def begin(name: str) -> Transactor:
        transactor = TRANSACTORS[request.param](broker.bootstrap, f"{topic}-{name}")
        made.append(transactor)
        transactor.begin()
        return transactor

    yield begin
    for transactor in made:
        transactor.close()


def _read(broker: BrokerProcess, topic: str, isolation: str) -> list[bytes | None]:
    """All that a consumer of this isolation sees."""
    client = Confluent(broker.bootstrap)
    end = client.stable_end(topic, isolation)
    return [one.value for one in client.read_to(topic, end, isolation=isolation)]


def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
    broker: BrokerProcess, begin: Begin, topic: str
) -> None:
    writer = begin("writer")
    writer.send(topic, b"kept 1")
    writer.send(topic, b"kept 2")
    writer.commit()
    writer.begin()
    writer.send(topic, b"dropped")
    writer.abort()
    writer.begin()
    writer.send(topic, b"kept 3")
    writer.commit()
    assert _read(broker, topic, "read_committed") == [b"kept 1", b"kept 2", b"kept 3"]
    everything = [b"kept 1", b"kept 2", b"dropped", b"kept 3"]
    assert _read(broker, topic, "read_uncommitted") == everything


def test_an_open_transaction_holds_back_what_comes_after_it(
    broker: BrokerProcess, begin: Begin, topic: str
) -> None:
    client = Confluent(broker.bootstrap)
    client.write(topic, [Sent(b"before")])
    writer = begin("writer")
    writer.send(topic, b"open")
    client.write(topic, [Sent(b"after")])
    assert _read(broker, topic, "read_committed") == [b"before"]
    assert _read(broker, topic, "read_uncommitted") == [b"before", b"open", b"after"]
    writer.commit()
    assert _read(broker, topic, "read_committed") == [b"before", b"open", b"after"]


def test_the_second_producer_of_a_name_fences_the_first(
    broker: BrokerProcess, begin: Begin, topic: str
) -> None:
    first = begin("same")
    first.send(topic, b"of the first")
    second = begin("same")
    with pytest.raises(Refused):
        _go_on(first, topic)
    second.send(topic, b"of the second")
    second.commit()
    assert _read(broker, topic, "read_committed") == [b"of the second"]


def _go_on(writer: Transactor, topic: str) -> None:
    writer.send(topic, b"too late")
    writer.commit()


def test_offsets_are_committed_with_the_records_or_not_at_all(
    broker: BrokerProcess, topic: str
) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic)
    client.create(f"{topic}-out")
    client.write(topic, [Sent(b"%d" % n) for n in range(10)])
    settings = {"bootstrap.servers": broker.bootstrap, "log_level": 0}
    consumer = Consumer({**settings, "group.id": topic, "enable.auto.commit": False})
    producer = Producer({**settings, "transactional.id": topic})
    try:
        producer.init_transactions(30)
        for offset, is_kept in ((4, True), (9, False)):
            producer.begin_transaction()
            producer.produce(f"{topic}-out", b"up to %d" % offset, partition=0)
            positions = [TopicPartition(topic, 0, offset)]
            metadata = consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction(positions, metadata, 30)
            (producer.commit_transaction if is_kept else producer.abort_transaction)(30)
        (committed,) = consumer.committed([TopicPartition(topic, 0)], timeout=20)
        assert committed.offset == 4
    finally:
        consumer.close()
    assert _read(broker, f"{topic}-out", "read_committed") == [b"up to 4"]
