"""Members of a consumer group, one per client library, driven step by step from one thread.

`step` lets the member do whatever is due (join, take its partitions, read) and returns the records
it got; nothing here runs by itself for long, so a test says who is alive and who is not.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import OffsetAndMetadata as AioOffset
from aiokafka.structs import TopicPartition as AioPartition
from confluent_kafka import Consumer, TopicPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonPartition
from kafka.structs import OffsetAndMetadata as PythonOffset

STEP_S = 0.1
PATIENCE_S = 20.0
Result = TypeVar("Result")


class Member(Protocol):
    def step(self) -> list[bytes]: ...

    def assigned(self) -> set[int]: ...

    def commit(self, partition: int, offset: int) -> None: ...

    def committed(self, partition: int) -> int | None: ...

    def leave(self) -> None:
        """Say goodbye to the group; doing so twice does no harm."""


class ConfluentMember:
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        self._topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 200,
                "fetch.wait.max.ms": 50,
            }
        )
        self._consumer.subscribe([topic])

    def step(self) -> list[bytes]:
        messages = self._consumer.consume(100, timeout=STEP_S)
        return [message.value() for message in messages if message.error() is None]

    def assigned(self) -> set[int]:
        return {where.partition for where in self._consumer.assignment()}

    def commit(self, partition: int, offset: int) -> None:
        self._consumer.commit(
            offsets=[TopicPartition(self._topic, partition, offset)], asynchronous=False
        )

    def committed(self, partition: int) -> int | None:
        (found,) = self._consumer.committed([TopicPartition(self._topic, partition)], timeout=10)
        return None if found.offset < 0 else int(found.offset)

    def leave(self) -> None:
        self._consumer.close()


class KafkaPythonMember:
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        self._topic = topic
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
            fetch_max_wait_ms=50,
        )
        # Known before it is shared out: a leader that knows no partitions gives nobody any.
        self._consumer.partitions_for_topic(topic)
        self._consumer.subscribe([topic])

    def step(self) -> list[bytes]:
        polled = self._consumer.poll(timeout_ms=int(STEP_S * 1000))
        return [record.value for records in polled.values() for record in records]

    def assigned(self) -> set[int]:
        return {where.partition for where in self._consumer.assignment()}

    def commit(self, partition: int, offset: int) -> None:
        where = PythonPartition(self._topic, partition)
        self._consumer.commit({where: PythonOffset(offset, "", -1)})

    def committed(self, partition: int) -> int | None:
        found = self._consumer.committed(PythonPartition(self._topic, partition))
        return None if found is None else int(found)

    def leave(self) -> None:
        self._consumer.close()


class AioKafkaMember:
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        self._topic = topic
        # A loop that runs all the time, since this client keeps its heartbeats there.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._consumer = self._run(self._start(bootstrap, group))

    async def _start(self, bootstrap: str, group: str) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
            fetch_max_wait_ms=50,
        )
        # Subscribed after the start: the start would wait for the others, who do not step yet.
        await consumer.start()
        consumer.subscribe([self._topic])
        return consumer

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result(PATIENCE_S)

    def step(self) -> list[bytes]:
        polled = self._run(self._consumer.getmany(timeout_ms=int(STEP_S * 1000)))
        return [record.value for records in polled.values() for record in records]

    def assigned(self) -> set[int]:
        return {where.partition for where in self._consumer.assignment()}

    def commit(self, partition: int, offset: int) -> None:
        where = AioPartition(self._topic, partition)
        self._run(self._consumer.commit({where: AioOffset(offset, "")}))

    def committed(self, partition: int) -> int | None:
        where = AioPartition(self._topic, partition)
        found: int | None = self._run(self._consumer.committed(where))
        return found

    def leave(self) -> None:
        if not self._loop.is_closed():
            self._run(self._consumer.stop())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE_S)
            self._loop.close()


MEMBERS: dict[str, Callable[[str, str, str], Member]] = {
    "confluent": ConfluentMember,
    "kafka-python": KafkaPythonMember,
    "aiokafka": AioKafkaMember,
}
