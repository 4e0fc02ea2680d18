"""confluent-kafka, which is librdkafka, as a `Client`."""

import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    IsolationLevel,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from compat_tests.python_clients.values import (
    BEGINNING,
    END,
    Acks,
    Cluster,
    Refused,
    Seen,
    Sent,
)
from compat_tests.waiting import eventually

PATIENCE_S = 15.0
Result = TypeVar("Result")


class Confluent:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def write(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
    ) -> list[int]:
        settings = {
            "bootstrap.servers": self._bootstrap,
            "compression.type": codec,
            "acks": acks,
            "enable.idempotence": idempotent,
            "linger.ms": 2,
            "log_level": 0,
            # The broker is to judge sizes, not the client.
            "message.max.bytes": 100_000_000,
            "delivery.timeout.ms": int(PATIENCE_S * 1000),
            "topic.metadata.propagation.max.ms": 2000,
        }
        reports: list[tuple[Any, Message]] = []
        producer = Producer(settings)
        for record in records:
            producer.produce(
                topic,
                record.value,
                record.key,
                partition=record.partition,
                headers=list(record.headers),
                timestamp=record.timestamp or 0,
                on_delivery=lambda error, message: reports.append((error, message)),
            )
        assert producer.flush(PATIENCE_S) == 0
        for error, _ in reports:
            if error is not None:
                raise Refused(error.code(), error.str())
        return [message.offset() for _, message in reports]

    def read(self, topic: str, count: int, *, start: int = BEGINNING) -> list[Seen]:
        position = {BEGINNING: OFFSET_BEGINNING, END: OFFSET_END}.get(start, start)
        return self._read(TopicPartition(topic, 0, position), count)

    def stable_end(self, topic: str, isolation: str) -> int:
        """Up to where a consumer of this isolation may read partition 0."""
        level = (
            IsolationLevel.READ_COMMITTED
            if isolation == "read_committed"
            else IsolationLevel.READ_UNCOMMITTED
        )
        where = TopicPartition(topic, 0)
        asked = {where: OffsetSpec.latest()}
        return int(_outcome(self.admin.list_offsets(asked, isolation_level=level)[where]).offset)

    def read_to(self, topic: str, end: int, *, isolation: str = "read_committed") -> list[Seen]:
        """Consume partition 0 up to an offset; there may be gaps on the way."""
        seen: list[Seen] = []
        deadline = time.monotonic() + PATIENCE_S
        with _Reading(self._bootstrap, isolation) as consumer:
            consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
            while time.monotonic() < deadline:
                seen.extend(map(_seen, consumer.consume(10_000, timeout=0.2)))
                (position,) = consumer.position([TopicPartition(topic, 0)])
                if position.offset >= end:
                    return seen
        raise AssertionError(f"read up to {position.offset} of {end}")

    def read_from_time(self, topic: str, count: int, timestamp: int) -> list[Seen]:
        found = self._offset_for_time(topic, timestamp)
        return self._read(found, count)

    def first_and_end(self, topic: str) -> tuple[int, int]:
        with _Reading(self._bootstrap) as consumer:
            first, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE_S)
            return first, end

    def ends(self, topic: str, partitions: int) -> list[int]:
        """Where the next record of each partition will be."""
        with _Reading(self._bootstrap) as consumer:
            asked = [TopicPartition(topic, number) for number in range(partitions)]
            return [consumer.get_watermark_offsets(one, PATIENCE_S)[1] for one in asked]

    def offset_for_time(self, topic: str, timestamp: int) -> int | None:
        found = self._offset_for_time(topic, timestamp).offset
        return None if found == OFFSET_END else int(found)

    def create(self, topic: str, partitions: int = 1, configs: Mapping[str, str] = {}) -> None:
        wanted = NewTopic(topic, num_partitions=partitions, config=dict(configs))
        _outcome(self.admin.create_topics([wanted])[topic])
        # Kafka answers before all of its threads know.
        eventually(self.topics, lambda seen: topic in seen)

    def delete(self, topic: str) -> None:
        _outcome(self.admin.delete_topics([topic])[topic])

    def topics(self) -> set[str]:
        return set(self.admin.list_topics(timeout=PATIENCE_S).topics)

    def partitions(self, topic: str) -> list[int]:
        found = self.admin.list_topics(topic, timeout=PATIENCE_S).topics[topic]
        if found.error is not None:
            raise Refused(found.error.code())
        return sorted(found.partitions)

    def add_partitions(self, topic: str, total: int) -> None:
        _outcome(self.admin.create_partitions([NewPartitions(topic, total)])[topic])

    def configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        found = _outcome(self.admin.describe_configs([resource])[resource])
        return {name: entry.value for name, entry in found.items()}

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config=dict(configs))
        with warnings.catch_warnings():
            # The client would rather be asked for incremental changes; others still ask for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            altered = self.admin.alter_configs([resource])
        _outcome(altered[resource])

    def delete_records(self, topic: str, before: int) -> int:
        where = TopicPartition(topic, 0, before)
        return int(_outcome(self.admin.delete_records([where])[where]).low_watermark)

    def cluster(self) -> Cluster:
        found = _outcome(self.admin.describe_cluster())
        brokers = {node.id: f"{node.host}:{node.port}" for node in found.nodes}
        return Cluster(found.cluster_id, found.controller.id, brokers)

    def _offset_for_time(self, topic: str, timestamp: int) -> TopicPartition:
        with _Reading(self._bootstrap) as consumer:
            asked = [TopicPartition(topic, 0, timestamp)]
            (found,) = consumer.offsets_for_times(asked, PATIENCE_S)
            return found

    def _read(self, start: TopicPartition, count: int) -> list[Seen]:
        seen: list[Seen] = []
        deadline = time.monotonic() + PATIENCE_S
        with _Reading(self._bootstrap) as consumer:
            consumer.assign([start])
            while len(seen) < count and time.monotonic() < deadline:
                for message in consumer.consume(count - len(seen), timeout=0.5):
                    if message.error() is not None:
                        raise Refused(message.error().code(), message.error().str())
                    seen.append(_seen(message))
        return seen


class _Reading:
    """A consumer without a group, closed at the end of the block."""

    def __init__(self, bootstrap: str, isolation: str = "read_committed") -> None:
        settings = {
            "isolation.level": isolation,
            "bootstrap.servers": bootstrap,
            "group.id": "never-joined",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 100,
            "log_level": 0,
        }
        self._consumer = Consumer(settings)

    def __enter__(self) -> Consumer:
        return self._consumer

    def __exit__(self, *error: object) -> None:
        self._consumer.close()


def _seen(message: Message) -> Seen:
    kind, timestamp = message.timestamp()
    headers = tuple(message.headers() or ())
    # librdkafka counts the types of timestamps from 1.
    return Seen(message.offset(), message.value(), message.key(), headers, timestamp, kind - 1)


def _outcome(future: "Future[Result]") -> Result:
    try:
        return future.result(PATIENCE_S)
    except KafkaException as failed:
        raise Refused(failed.args[0].code(), failed.args[0].str()) from failed
