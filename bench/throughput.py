"""Records in and out through librdkafka, the client most people have: kwire, and Kafka beside it.

Rounds alternate between the brokers, since the machine's speed drifts; the table has the medians
and the ratio. A producer with idempotence writes one partition, then a consumer reads it from the
start. Both clients are Python's confluent-kafka, which costs more than either broker.
"""

import argparse
import statistics
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.rivals import Running, kafka, kwire, running
from bench.tables import print_table

ROUNDS = 3
WORKLOADS = ((100, 1_000_000), (1_000, 500_000), (10_000, 50_000))


class Rate(NamedTuple):
    """Records per second."""

    produced: float
    consumed: float


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beside", choices=("kafka",), help="measure this broker too")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the median counts")


def run(arguments: argparse.Namespace) -> None:
    rivals = [kwire()] + ([kafka()] if arguments.beside else [])
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        brokers = [
            stack.enter_context(running(rival, Path(directory) / f"data-{index}"))
            for index, rival in enumerate(rivals)
        ]
        rows = []
        for size, count in WORKLOADS:
            rates = [
                [_one_round(broker, size, count) for broker in brokers]
                for _ in range(arguments.rounds)
            ]
            rows += _rows(size, rates)
    ratio = ["ratio"] if arguments.beside else []
    print_table(["MB/s", *(rival.name for rival in rivals), *ratio], rows)


def _rows(size: int, rounds: list[list[Rate]]) -> list[list[str]]:
    rows = []
    for what in ("produced", "consumed"):
        medians = [
            statistics.median(getattr(rate, what) for rate in of_one) * size / 1e6
            for of_one in zip(*rounds, strict=True)
        ]
        ratio = [f"{medians[0] / medians[1]:.2f}"] if len(medians) > 1 else []
        rows.append([f"{size:,} B {what}", *(f"{median:,.0f}" for median in medians), *ratio])
    return rows


def _one_round(broker: Running, size: int, count: int) -> Rate:
    topic = f"t-{uuid.uuid4().hex[:12]}"
    return Rate(_produce(broker, topic, size, count), _consume(broker, topic, count))


def _produce(broker: Running, topic: str, size: int, count: int) -> float:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "enable.idempotence": True,
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1 << 20,
        }
    )
    value = bytes(size)
    producer.produce(topic, value)
    producer.flush(30)
    begin = time.perf_counter()
    for index in range(count - 1):
        while True:
            try:
                producer.produce(topic, value)
                break
            except BufferError:
                producer.poll(0.001)
        if index % 1000 == 0:
            producer.poll(0)
    left = producer.flush(60)
    assert left == 0, f"{left} records were not acknowledged"
    return count / (time.perf_counter() - begin)


def _consume(broker: Running, topic: str, count: int) -> float:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            # Otherwise a full queue makes the client sleep for a second.
            "fetch.queue.backoff.ms": 1,
            "queued.min.messages": 1_000_000,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        begin = time.perf_counter()
        read = 0
        while read < count:
            messages = consumer.consume(1000, timeout=10)
            assert messages, f"{read} of {count} records came"
            read += len(messages)
        return count / (time.perf_counter() - begin)
    finally:
        consumer.close()
