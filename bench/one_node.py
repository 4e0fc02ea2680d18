"""What a person waits for on one node: the start, topics, a restart with data; and memory.

`python -m bench one_node` measures kwire; with `--beside kafka`, Apache Kafka in the same
run. Times are medians; a restart counts until every partition answers.
"""

import argparse
import signal
import statistics
import tempfile
import time
from pathlib import Path

from bench.rivals import Rival, kafka, kwire, running
from bench.tables import print_table
from kwire.codec.apis import CREATE_TOPICS, LIST_OFFSETS, PRODUCE
from kwire.codec.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kwire.codec.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kwire.codec.messages.produce import ProducePartition, ProduceRequest, ProduceTopic
from kwire.codec.records.builder import build_batch, number
from kwire.peers.client import Client
from kwire.peers.connection import Address

TOPICS, PARTITIONS = 100, 10
BATCH_BYTES = 512 * 1024
BATCHES_PER_PARTITION = 2
STARTS = 10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beside", choices=("kafka",), help="measure this broker too")
    parser.add_argument("--starts", type=int, default=STARTS, help="how often to start")


def run(arguments: argparse.Namespace) -> None:
    rivals = [kwire()] + ([kafka()] if arguments.beside else [])
    measured = [_measure(rival, arguments.starts) for rival in rivals]
    names = list(measured[0])
    rows = [[name, *(one[name] for one in measured)] for name in names]
    print_table(["", *(rival.name for rival in rivals)], rows)


def _measure(rival: Rival, starts: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        told = _start_up(rival, base, starts)
        told |= _topics_and_restarts(rival, base / "loaded")
        return told


def _start_up(rival: Rival, base: Path, starts: int) -> dict[str, str]:
    times, sizes = [], []
    for index in range(starts):
        data_dir = base / f"empty-{index}"
        with running(rival, data_dir) as broker:
            times.append(broker.took_s)
            sizes.append(broker.rss_mb())
    return {
        "exec to first answer": f"{statistics.median(times) * 1000:.0f} ms",
        "idle memory": f"{statistics.median(sizes):.0f} MB",
    }


def _topics_and_restarts(rival: Rival, data_dir: Path) -> dict[str, str]:
    told: dict[str, str] = {}
    names = [f"topic-{index}" for index in range(TOPICS)]
    with running(rival, data_dir) as broker, _client(broker.bootstrap) as client:
        begin = time.perf_counter()
        _create(client, names)
        told[f"create {TOPICS} topics x {PARTITIONS}"] = _ms(begin)
        _wait_until_served(client, names)
        told["... until all are usable"] = _ms(begin)
        _fill(client, names)
        told["memory with 1,000 partitions"] = f"{broker.rss_mb():.0f} MB"
    for how, end in (("clean stop", signal.SIGKILL), ("kill -9", signal.SIGTERM)):
        begin = time.perf_counter()
        with running(rival, data_dir, end=end) as broker, _client(broker.bootstrap) as client:
            _wait_until_served(client, names)
            told[f"usable again after {how}"] = _ms(begin)
            if end == signal.SIGKILL:
                _fill(client, names)
    return told


def _ms(begin: float) -> str:
    return f"{(time.perf_counter() - begin) * 1000:,.0f} ms"


def _client(bootstrap: str) -> Client:
    host, _, port = bootstrap.rpartition(":")
    return Client([Address(host, int(port))], timeout_s=60)


def _create(client: Client, names: list[str]) -> None:
    topics = [
        CreatableTopic(name=name, num_partitions=PARTITIONS, replication_factor=1) for name in names
    ]
    answer = client.ask(CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=60_000))
    assert all(topic.error_code == 0 for topic in answer.topics), answer


def _wait_until_served(client: Client, names: list[str]) -> None:
    """Ask every partition where it ends, until every one tells."""
    request = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name=name,
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=-1)
                    for index in range(PARTITIONS)
                ],
            )
            for name in names
        ],
    )
    while True:
        answer = client.ask(LIST_OFFSETS, request)
        if all(not one.error_code for topic in answer.topics for one in topic.partitions):
            return
        time.sleep(0.005)


def _fill(client: Client, names: list[str]) -> None:
    """A megabyte for each partition, a gigabyte in all."""
    records = number([(None, bytes(1024)) for _ in range(BATCH_BYTES // 1024)], 0)
    batch = bytes(build_batch(records))
    for name in names:
        topic_id = client.topic(name).topic_id
        for index in range(PARTITIONS):
            for _ in range(BATCHES_PER_PARTITION):
                partition = ProducePartition(index=index, records=memoryview(batch))
                topic = ProduceTopic(name=name, topic_id=topic_id, partition_data=[partition])
                request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
                answer = client.ask(PRODUCE, request)
                code = answer.responses[0].partition_responses[0].error_code
                assert code == 0, f"produce to {name}-{index}: error {code}"
