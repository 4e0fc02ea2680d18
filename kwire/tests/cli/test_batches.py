"""Records are gathered by partition and sent in batches that brokers take."""

import pytest

from kwire.cli import batches as batches_module
from kwire.cli.batches import BATCH_BYTES, Batches
from kwire.codec.apis import PRODUCE
from kwire.peers.client import Client
from kwire.peers.partitioner import partition_for
from kwire.peers.writer import Writer
from kwire.tests.builders import A_TIMESTAMP
from kwire.tests.peers.fake_topics import FakeTopic, FakeTopics

MAX_MESSAGE_BYTES = 1_048_588


def add(batches: Batches, *values: bytes, key: bytes | None = None) -> None:
    for value in values:
        batches.add(key, value, (), A_TIMESTAMP)


def values(topic: FakeTopic, partition: int) -> list[bytes | None]:
    return [record.value for record in topic.records(partition)]


def test_nothing_is_sent_before_a_batch_is_full_or_asked_for(broker: FakeTopics) -> None:
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=0)
        add(batches, b"a", b"b")
        assert broker.asked_for(PRODUCE) == []
        batches.flush()
        assert len(broker.asked_for(PRODUCE)) == 1
        assert values(broker.topics["orders"], 0) == [b"a", b"b"]
        assert batches.counts == {0: 2}
        assert batches.first_offsets == {0: 0}


@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_no_batch_of_several_records_is_larger_than_brokers_take(
    broker: FakeTopics, size: int
) -> None:
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=0)
        number = 3 * BATCH_BYTES // (size + 32)
        for _ in range(number):
            batches.add(b"k", b"." * size, (("name", b"value"),), A_TIMESTAMP)
        batches.flush()
    topic = broker.topics["orders"]
    assert len(topic.records()) == number
    assert len(topic.batches[0]) > 2
    assert max(map(len, topic.batches[0])) < MAX_MESSAGE_BYTES


def test_a_key_goes_where_kafkas_producer_puts_it(broker: FakeTopics) -> None:
    topic = broker.add("orders", partitions=5)
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=0)
        for key in (b"a", b"b", b"c", b"a"):
            add(batches, key, key=key)
        batches.flush()
    for key, count in ((b"a", 2), (b"b", 1), (b"c", 1)):
        assert values(topic, partition_for(key, 5)).count(key) == count


def test_without_a_key_a_batch_stays_together_and_the_next_goes_on(broker: FakeTopics) -> None:
    topic = broker.add("orders", partitions=3)
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=5)
        add(batches, b"a", b"b")
        batches.flush()
        add(batches, b"c")
        batches.flush()
    assert values(topic, 2) == [b"a", b"b"]
    assert values(topic, 0) == [b"c"]


def test_a_partition_that_is_not_there_is_refused(broker: FakeTopics) -> None:
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=0)
        with pytest.raises(ValueError, match="no partition 7; the topic has 1 of them"):
            batches.add(None, b"x", (), A_TIMESTAMP, partition=7)


def test_many_partitions_together_are_bounded_too(
    broker: FakeTopics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "GATHERED_BYTES", 1000)
    broker.add("orders", partitions=100)
    with Client([broker.address]) as client:
        batches = Batches(Writer(client, "orders"), first_partition=0)
        for partition in range(100):
            batches.add(None, b"." * 100, (), A_TIMESTAMP, partition)
        assert 80 < len(broker.asked_for(PRODUCE)) < 100
        batches.flush()
    assert batches.counts == dict.fromkeys(range(100), 1)
