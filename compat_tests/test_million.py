"""A million records go in through one client and come out of another: all, once, in order."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Producer

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

RECORDS = 1_000_000
PARTITIONS = 12
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE_S = 100

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def _value(number: int) -> bytes:
    """A value that says which record it is, of a length that varies."""
    return b"%d:%s" % (number, b"." * (number % 40))


def _produce(broker: BrokerProcess, topic: str, codec: str, numbers: range) -> None:
    """Write these records; the number says which partition each belongs to."""
    failed: list[object] = []
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "compression.type": codec,
        "enable.idempotence": True,
        "linger.ms": 20,
        "queue.buffering.max.messages": 500_000,
        "on_delivery": lambda error, _: failed.append(error) if error else None,
    }
    producer = Producer(settings)
    for number in numbers:
        while True:
            try:
                producer.produce(topic, _value(number), b"%d" % number, number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []


class Expectation:
    """Which record of each partition must come next."""

    def __init__(self) -> None:
        self.offsets = [0] * PARTITIONS

    def next(self, partition: int, records: Sequence[Any]) -> None:
        offset = self.offsets[partition]
        for record in records:
            # Record n went to partition n % 12, as its (n // 12)th.
            number = offset * PARTITIONS + partition
            assert record.offset == offset
            assert (record.key, record.value) == (b"%d" % number, _value(number))
            offset += 1
        self.offsets[partition] = offset


async def _consume(broker: BrokerProcess, topic: str, expect: Expectation) -> None:
    """Hand every record to `expect`, as they come."""
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest")
    async with consumer:
        consumer.assign([AioPartition(topic, number) for number in range(PARTITIONS)])
        left = RECORDS
        while left > 0:
            polled = await consumer.getmany(timeout_ms=5000, max_records=20_000)
            assert polled, f"{left} records are missing"
            for where, records in polled.items():
                left -= len(records)
                expect.next(where.partition, records)


def test_a_million_records_come_back_once_and_in_order(
    kwire_broker: BrokerProcess, topic: str
) -> None:
    client = Confluent(kwire_broker.bootstrap)
    client.create(topic, partitions=PARTITIONS, configs={"segment.bytes": str(4 << 20)})
    share = RECORDS // len(CODECS)
    for index, codec in enumerate(CODECS):
        _produce(kwire_broker, topic, codec, range(index * share, (index + 1) * share))
    expect = Expectation()
    asyncio.run(asyncio.wait_for(_consume(kwire_broker, topic, expect), PATIENCE_S))
    assert sum(expect.offsets) == RECORDS
    assert client.ends(topic, PARTITIONS) == expect.offsets
