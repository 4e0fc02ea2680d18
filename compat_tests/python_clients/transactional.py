"""Transactional producers of the three Python clients, in one vocabulary."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import aiokafka
import confluent_kafka
import kafka
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import Consumer, KafkaException
from kafka.errors import KafkaError as KafkaPythonError
from kafka.structs import OffsetAndMetadata

PATIENCE_S = 30.0


class Fenced(Exception):
    """A newer producer has the same transactional id."""


class Transactional(Protocol):
    """A producer whose constructor has initialised its transactions."""

    def begin(self) -> None: ...

    def send(self, topic: str, value: bytes) -> None:
        """Write one record, and wait until the broker has it."""

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        """Commit an offset of partition 0 with the transaction."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class ConfluentProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self._bootstrap = bootstrap
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                # No record may be waited for when its transaction is over.
                "message.timeout.ms": min(timeout_ms, 30_000),
                "log_level": 0,
            }
        )
        self._producer.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self._try(self._producer.begin_transaction)

    def send(self, topic: str, value: bytes) -> None:
        failed: list[object] = []
        self._producer.produce(
            topic, value, partition=0, on_delivery=lambda error, _: failed.append(error)
        )
        self._try(lambda: self._producer.flush(PATIENCE_S))
        if failed != [None]:
            raise Fenced(str(failed))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        position = confluent_kafka.TopicPartition(topic, 0, offset)
        metadata = consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction([position], metadata, PATIENCE_S)
        consumer.close()

    def commit(self) -> None:
        self._try(lambda: self._producer.commit_transaction(PATIENCE_S))

    def abort(self) -> None:
        self._try(lambda: self._producer.abort_transaction(PATIENCE_S))

    def close(self) -> None:
        self._producer.purge()

    def _try(self, deed: Callable[[], object]) -> None:
        try:
            deed()
        except KafkaException as error:
            raise Fenced(str(error)) from error
        except SystemError as error:
            # So the client fails when it calls for a delivery with the fatal error already raised.
            if isinstance(error.__cause__, KafkaException):
                raise Fenced(str(error.__cause__)) from error
            raise


class KafkaPythonProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        self._producer.init_transactions()

    def begin(self) -> None:
        self._try(self._producer.begin_transaction)

    def send(self, topic: str, value: bytes) -> None:
        self._try(lambda: self._producer.send(topic, value, partition=0).get(PATIENCE_S))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        position = {kafka.TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
        self._try(lambda: self._producer.send_offsets_to_transaction(position, group))

    def commit(self) -> None:
        self._try(self._producer.commit_transaction)

    def abort(self) -> None:
        self._try(self._producer.abort_transaction)

    def close(self) -> None:
        self._producer.close(timeout=1)

    def _try(self, deed: Callable[[], object]) -> None:
        try:
            deed()
        except KafkaPythonError as error:
            raise Fenced(str(error)) from error


class AioKafkaProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(self._start(bootstrap, transactional_id, timeout_ms))

    async def _start(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        await self._producer.start()

    def begin(self) -> None:
        self._try(self._producer.begin_transaction)

    def send(self, topic: str, value: bytes) -> None:
        self._try(lambda: self._producer.send_and_wait(topic, value, partition=0))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        position = {aiokafka.TopicPartition(topic, 0): offset}
        self._try(lambda: self._producer.send_offsets_to_transaction(position, group))

    def commit(self) -> None:
        self._try(self._producer.commit_transaction)

    def abort(self) -> None:
        self._try(self._producer.abort_transaction)

    def close(self) -> None:
        with self._runner:
            self._runner.get_loop().set_exception_handler(lambda loop, context: None)
            self._runner.run(self._stop())

    async def _stop(self) -> None:
        # A fenced producer says so once more when it is closed.
        with suppress(AioKafkaError):
            await self._producer.stop()

    def _try(self, deed: Callable[[], object]) -> None:
        async def run() -> None:
            await asyncio.wait_for(deed(), PATIENCE_S)  # type: ignore[arg-type]  # all are coroutines

        try:
            self._runner.run(run())
        except AioKafkaError as error:
            raise Fenced(str(error)) from error


PRODUCERS: dict[str, Callable[..., Transactional]] = {
    "confluent": ConfluentProducer,
    "kafka-python": KafkaPythonProducer,
    "aiokafka": AioKafkaProducer,
}
