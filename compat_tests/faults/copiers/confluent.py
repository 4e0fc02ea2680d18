"""Copies with confluent-kafka; what it cannot recover from ends it."""

from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from compat_tests.faults.copiers import terms


class Copier:
    def __init__(self) -> None:
        self._terms, self._random = terms.parse()
        self._batch: list[Message] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": self._terms.address,
                "group.id": self._terms.group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": terms.SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": terms.HEARTBEAT_INTERVAL_MS,
                "reconnect.backoff.max.ms": 200,
                "fetch.wait.max.ms": 50,
            }
        )
        self._producer = Producer(
            {
                "bootstrap.servers": self._terms.address,
                "transactional.id": self._terms.transactional_id,
                "transaction.timeout.ms": self._terms.transaction_timeout_ms,
                "batch.num.messages": 10,
                "linger.ms": 1,
                "reconnect.backoff.max.ms": 200,
                # Bootstrapping anew, librdkafka 2.16 forgets to send the offsets it has announced.
                "metadata.recovery.strategy": "none",
            }
        )

    def run(self) -> None:
        _insist(self._producer.init_transactions)
        self._consumer.subscribe([self._terms.source], on_revoke=self._forget)
        while True:
            message = self._consumer.poll(terms.POLL_S)
            if message is not None and message.error() is None:
                self._batch.append(message)
            if self._batch and (message is None or len(self._batch) == _LARGEST):
                self._copy()

    def _forget(self, consumer: Consumer, taken: list[TopicPartition]) -> None:
        # What was read but not copied belongs to whoever gets these partitions.
        self._batch.clear()

    def _copy(self) -> None:
        try:
            is_aborted = self._transact()
        except KafkaException as failed:
            error = failed.args[0]
            print(f"{error.name()}: {error.str()}", flush=True)
            if not error.txn_requires_abort():
                raise
            _insist(self._producer.abort_transaction)
            is_aborted = True
        if is_aborted:
            self._rewind()
        self._batch.clear()

    def _transact(self) -> bool:
        """Whether it was aborted on purpose."""
        self._producer.begin_transaction()
        for message in self._batch:
            self._producer.produce(
                self._terms.target, message.value(), message.key(), message.partition()
            )
        read = {message.partition(): message.offset() + 1 for message in self._batch}
        places = [TopicPartition(self._terms.source, *place) for place in read.items()]
        member = self._consumer.consumer_group_metadata()
        _insist(lambda: self._producer.send_offsets_to_transaction(places, member))
        is_aborted = self._random.random() < terms.ABORTED
        _insist(
            self._producer.abort_transaction if is_aborted else self._producer.commit_transaction
        )
        return is_aborted

    def _rewind(self) -> None:
        first = {message.partition(): message.offset() for message in reversed(self._batch)}
        for place in first.items():
            self._consumer.seek(TopicPartition(self._terms.source, *place))


_LARGEST = terms.RECORDS_PER_TRANSACTION


def _insist(call: Callable[[], None]) -> None:
    """Call again for as long as the client says that this may help."""
    while True:
        try:
            return call()
        except KafkaException as failed:
            if not failed.args[0].retriable():
                raise


if __name__ == "__main__":
    Copier().run()
