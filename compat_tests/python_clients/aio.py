"""aiokafka as a `Client`; each call runs an event loop of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import BrokerResponseError

from compat_tests.python_clients.values import BEGINNING, END, Acks, Cluster, Refused, Seen, Sent
from compat_tests.waiting import eventually

PATIENCE_S = 15.0
Result = TypeVar("Result")


class AioKafka:
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
        async def write() -> list[int]:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                compression_type=None if codec == "none" else codec,
                acks=acks,
                enable_idempotence=idempotent,
                max_request_size=100_000_000,
                linger_ms=2,
            )
            async with producer:
                sent = [await _send(producer, topic, record) for record in records]
                done = [await future for future in sent]
            # With acks=0 there is nothing to know.
            return [-1 if metadata is None else metadata.offset for metadata in done]

        return _run(write)

    def read(self, topic: str, count: int, *, start: int = BEGINNING) -> list[Seen]:
        async def place(consumer: AIOKafkaConsumer, where: TopicPartition) -> None:
            if start == BEGINNING:
                await consumer.seek_to_beginning(where)
            elif start == END:
                await consumer.seek_to_end(where)
            else:
                consumer.seek(where, start)

        return _run(lambda: self._read(topic, count, place))

    def read_from_time(self, topic: str, count: int, timestamp: int) -> list[Seen]:
        async def place(consumer: AIOKafkaConsumer, where: TopicPartition) -> None:
            found = await consumer.offsets_for_times({where: timestamp})
            consumer.seek(where, found[where].offset)

        return _run(lambda: self._read(topic, count, place))

    def first_and_end(self, topic: str) -> tuple[int, int]:
        async def ask() -> tuple[int, int]:
            where = TopicPartition(topic, 0)
            async with self._consumer() as consumer:
                first = await consumer.beginning_offsets([where])
                end = await consumer.end_offsets([where])
                return first[where], end[where]

        return _run(ask)

    def offset_for_time(self, topic: str, timestamp: int) -> int | None:
        async def ask() -> int | None:
            where = TopicPartition(topic, 0)
            async with self._consumer() as consumer:
                found = (await consumer.offsets_for_times({where: timestamp}))[where]
                return None if found is None else int(found.offset)

        return _run(ask)

    def create(self, topic: str, partitions: int = 1, configs: Mapping[str, str] = {}) -> None:
        async def create(admin: AIOKafkaAdminClient) -> None:
            wanted = NewTopic(topic, partitions, 1, topic_configs=dict(configs))
            answer = await admin.create_topics([wanted])
            for _, code, message in answer.topic_errors:
                _check(code, message)

        self._administrate(create)
        # Kafka answers before all of its threads know.
        eventually(self.topics, lambda seen: topic in seen)

    def delete(self, topic: str) -> None:
        async def delete(admin: AIOKafkaAdminClient) -> None:
            answer = await admin.delete_topics([topic])
            for _, code in answer.topic_error_codes:
                _check(code)

        self._administrate(delete)

    def topics(self) -> set[str]:
        async def ask(admin: AIOKafkaAdminClient) -> set[str]:
            return set(await admin.list_topics())

        return self._administrate(ask)

    def partitions(self, topic: str) -> list[int]:
        async def ask(admin: AIOKafkaAdminClient) -> list[int]:
            (found,) = await admin.describe_topics([topic])
            _check(found["error_code"])
            return sorted(partition["partition"] for partition in found["partitions"])

        return self._administrate(ask)

    def add_partitions(self, topic: str, total: int) -> None:
        async def add(admin: AIOKafkaAdminClient) -> None:
            await admin.create_partitions({topic: NewPartitions(total)})

        self._administrate(add)

    def configs(self, topic: str) -> dict[str, str | None]:
        async def ask(admin: AIOKafkaAdminClient) -> dict[str, str | None]:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic)
            (answer,) = await admin.describe_configs([resource])
            ((code, message, _, _, entries),) = answer.resources
            _check(code, message)
            return {entry[0]: entry[1] for entry in entries}

        return self._administrate(ask)

    def replace_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        async def alter(admin: AIOKafkaAdminClient) -> None:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(configs))
            (answer,) = await admin.alter_configs([resource])
            for code, message, _, _ in answer.resources:
                _check(code, message)

        self._administrate(alter)

    def delete_records(self, topic: str, before: int) -> int:
        async def delete(admin: AIOKafkaAdminClient) -> int:
            where = TopicPartition(topic, 0)
            deleted = await admin.delete_records({where: RecordsToDelete(before)})
            return int(deleted[where])

        return self._administrate(delete)

    def cluster(self) -> Cluster:
        async def ask(admin: AIOKafkaAdminClient) -> Cluster:
            found = await admin.describe_cluster()
            brokers = {one["node_id"]: f"{one['host']}:{one['port']}" for one in found["brokers"]}
            return Cluster(found["cluster_id"], found["controller_id"], brokers)

        return self._administrate(ask)

    def _administrate(self, call: Callable[[AIOKafkaAdminClient], Awaitable[Result]]) -> Result:
        async def administrate() -> Result:
            async with self._admin() as admin:
                return await call(admin)

        return _run(administrate)

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    def _consumer(self) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap, auto_offset_reset="none", fetch_max_wait_ms=100
        )

    async def _read(
        self,
        topic: str,
        count: int,
        place: Callable[[AIOKafkaConsumer, TopicPartition], Awaitable[None]],
    ) -> list[Seen]:
        where = TopicPartition(topic, 0)
        async with self._consumer() as consumer:
            consumer.assign([where])
            await place(consumer, where)
            return [_seen(await consumer.getone()) for _ in range(count)]


def _run(call: Callable[[], Awaitable[Result]]) -> Result:
    async def bounded() -> Result:
        return await asyncio.wait_for(call(), PATIENCE_S)

    try:
        return asyncio.run(bounded())
    except BrokerResponseError as refused:
        raise Refused(refused.errno, str(refused)) from refused


async def _send(producer: AIOKafkaProducer, topic: str, record: Sent) -> "asyncio.Future[Any]":
    headers = list(record.headers)
    sent: asyncio.Future[Any] = await producer.send(
        topic, record.value, record.key, record.partition, record.timestamp, headers
    )
    return sent


def _check(code: int, message: str | None = None) -> None:
    if code != 0:
        raise Refused(code, message or "")


def _seen(record: Any) -> Seen:
    return Seen(
        record.offset,
        record.value,
        record.key,
        tuple(record.headers),
        record.timestamp,
        record.timestamp_type,
    )
