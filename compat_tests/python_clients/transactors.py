"""Transactional producers of the three client libraries, in one vocabulary."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError as AioError
from confluent_kafka import KafkaException, Producer
from kafka import KafkaProducer
from kafka.errors import KafkaError

from compat_tests.python_clients.values import Refused

PATIENCE_S = 30.0


class Transactor(Protocol):
    """A producer with a transactional id; every call waits until the broker has agreed."""

    def begin(self) -> None: ...

    def send(self, topic: str, value: bytes) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class ConfluentTransactor:
    def __init__(self, bootstrap: str, name: str) -> None:
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": name, "log_level": 0}
        )
        self._ask(self._producer.init_transactions, PATIENCE_S)

    def begin(self) -> None:
        self._ask(self._producer.begin_transaction)

    def send(self, topic: str, value: bytes) -> None:
        self._ask(self._producer.produce, topic, value, partition=0)
        self._ask(self._producer.flush, PATIENCE_S)

    def commit(self) -> None:
        self._ask(self._producer.commit_transaction, PATIENCE_S)

    def abort(self) -> None:
        self._ask(self._producer.abort_transaction, PATIENCE_S)

    def close(self) -> None:
        self._producer.purge()

    def _ask(self, call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        try:
            call(*arguments, **named)
        except KafkaException as refused:
            raise Refused(refused.args[0].code(), refused.args[0].str()) from refused


class KafkaPythonTransactor:
    def __init__(self, bootstrap: str, name: str) -> None:
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
        self._ask(self._producer.init_transactions)

    def begin(self) -> None:
        self._ask(self._producer.begin_transaction)

    def send(self, topic: str, value: bytes) -> None:
        self._ask(lambda: self._producer.send(topic, value, partition=0).get(PATIENCE_S))

    def commit(self) -> None:
        self._ask(self._producer.commit_transaction)

    def abort(self) -> None:
        self._ask(self._producer.abort_transaction)

    def close(self) -> None:
        self._producer.close(timeout=1)

    def _ask(self, call: Callable[[], Any]) -> None:
        try:
            call()
        except KafkaError as refused:
            raise Refused(getattr(refused, "errno", -1) or -1, repr(refused)) from refused


class AioKafkaTransactor:
    def __init__(self, bootstrap: str, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._producer = self._ask(self._start(bootstrap, name))

    async def _start(self, bootstrap: str, name: str) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
        await producer.start()
        return producer

    def begin(self) -> None:
        self._ask(self._producer.begin_transaction())

    def send(self, topic: str, value: bytes) -> None:
        self._ask(self._producer.send_and_wait(topic, value, partition=0))

    def commit(self) -> None:
        self._ask(self._producer.commit_transaction())

    def abort(self) -> None:
        self._ask(self._producer.abort_transaction())

    def close(self) -> None:
        self._loop.run_until_complete(self._producer.stop())
        self._loop.close()

    def _ask(self, call: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self._loop.run_until_complete(asyncio.wait_for(call, PATIENCE_S))
        except AioError as refused:
            raise Refused(getattr(refused, "errno", -1), repr(refused)) from refused


TRANSACTORS: dict[str, Callable[[str, str], Transactor]] = {
    "confluent": ConfluentTransactor,
    "kafka-python": KafkaPythonTransactor,
    "aiokafka": AioKafkaTransactor,
}
