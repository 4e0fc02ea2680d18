"""kafka-python as a `Client`."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource
from kafka.errors import BrokerResponseError

from compat_tests.python_clients.values import BEGINNING, END, Acks, Cluster, Refused, Seen, Sent
from compat_tests.waiting import eventually

PATIENCE_S = 15.0


class KafkaPython:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def write(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
    ) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if codec == "none" else codec,
            acks=acks,
            enable_idempotence=idempotent,
            linger_ms=2,
            max_request_size=100_000_000,
        )
        with closing(producer), _refusals():
            sent = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp,
                )
                for record in records
            ]
            producer.flush(PATIENCE_S)
            return [future.get(PATIENCE_S).offset for future in sent]

    def read(self, topic: str, count: int, *, start: int = BEGINNING) -> list[Seen]:
        def place(consumer: KafkaConsumer, where: TopicPartition) -> None:
            if start == BEGINNING:
                consumer.seek_to_beginning(where)
            elif start == END:
                consumer.seek_to_end(where)
            else:
                consumer.seek(where, start)

        return self._read(topic, count, place)

    def read_from_time(self, topic: str, count: int, timestamp: int) -> list[Seen]:
        def place(consumer: KafkaConsumer, where: TopicPartition) -> None:
            consumer.seek(where, consumer.offsets_for_times({where: timestamp})[where].offset)

        return self._read(topic, count, place)

    def first_and_end(self, topic: str) -> tuple[int, int]:
        where = TopicPartition(topic, 0)
        with closing(self._consumer()) as consumer:
            return consumer.beginning_offsets([where])[where], consumer.end_offsets([where])[where]

    def offset_for_time(self, topic: str, timestamp: int) -> int | None:
        where = TopicPartition(topic, 0)
        with closing(self._consumer()) as consumer:
            found = consumer.offsets_for_times({where: timestamp})[where]
            return None if found is None else int(found.offset)

    def create(self, topic: str, partitions: int = 1, configs: Mapping[str, str] = {}) -> None:
        wanted = {"num_partitions": partitions, "configs": dict(configs)}
        with self._admin() as admin:
            admin.create_topics({topic: wanted})
        # Kafka answers before all of its threads know.
        eventually(self.topics, lambda seen: topic in seen)

    def delete(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def partitions(self, topic: str) -> list[int]:
        with self._admin() as admin:
            (found,) = admin.describe_topics([topic])
        if found["error_code"] != 0:
            raise Refused(found["error_code"])
        return sorted(partition["partition_index"] for partition in found["partitions"])

    def add_partitions(self, topic: str, total: int) -> None:
        with self._admin() as admin:
            admin.create_partitions({topic: total})

    def configs(self, topic: str) -> dict[str, str | None]:
        with self._admin() as admin:
            found = admin.describe_configs([ConfigResource("TOPIC", topic)], config_filter="all")
        return {name: entry["value"] for name, entry in found["topic"][topic].items()}

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        # kafka-python fills in the keys that are not named, so those to be dropped are reset.
        with self._admin() as admin:
            modified = admin.describe_configs([ConfigResource("TOPIC", topic)])["topic"][topic]
            forgotten = [name for name in modified if name not in configs]
            if forgotten:
                admin.reset_configs([ConfigResource("TOPIC", topic, forgotten)], incremental=False)
            changed = ConfigResource("TOPIC", topic, dict(configs))
            altered = admin.alter_configs([changed], incremental=False, raise_on_unknown=False)
        # It reports refusals as text: "[Error 3] UnknownTopicOrPartitionError: ...".
        if refused := re.match(r"\[Error (\d+)\]", str(altered["topic"][topic])):
            raise Refused(int(refused[1]))

    def delete_records(self, topic: str, before: int) -> int:
        where = TopicPartition(topic, 0)
        with self._admin() as admin:
            return int(admin.delete_records({where: before})[where]["low_watermark"])

    def cluster(self) -> Cluster:
        with self._admin() as admin:
            found = admin.describe_cluster()
        brokers = {one["broker_id"]: f"{one['host']}:{one['port']}" for one in found["brokers"]}
        return Cluster(found["cluster_id"], found["controller_id"], brokers)

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        with closing(KafkaAdminClient(bootstrap_servers=self._bootstrap)) as admin, _refusals():
            yield admin

    def _consumer(self) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._bootstrap, auto_offset_reset="none", fetch_max_wait_ms=100
        )

    def _read(
        self, topic: str, count: int, place: Callable[[KafkaConsumer, TopicPartition], None]
    ) -> list[Seen]:
        where = TopicPartition(topic, 0)
        seen: list[Seen] = []
        deadline = time.monotonic() + PATIENCE_S
        with closing(self._consumer()) as consumer, _refusals():
            consumer.assign([where])
            place(consumer, where)
            while len(seen) < count and time.monotonic() < deadline:
                polled = consumer.poll(timeout_ms=500, max_records=count - len(seen))
                seen.extend(map(_seen, polled.get(where, [])))
        return seen


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except BrokerResponseError as refused:
        raise Refused(refused.errno, str(refused)) from refused


def _seen(record: Any) -> Seen:
    return Seen(
        record.offset,
        record.value,
        record.key,
        tuple(record.headers),
        record.timestamp,
        record.timestamp_type,
    )
