"""Producers that never stop, while the broker under them dies and comes back."""

import random
import threading
from collections import deque

from confluent_kafka import KafkaError, Message, Producer

from compat_tests.crash.ledger import IDEMPOTENT, PLAIN, Acknowledged

BURST = 4
PACE_S = 0.005


class Load:
    """One producer in a thread of its own; what it is told waits in `told` to be taken."""

    def __init__(
        self, address: str, topic: str, partitions: int, *, idempotent: bool, seed: int
    ) -> None:
        self._topic = topic
        self._partitions = partitions
        self._name = IDEMPOTENT if idempotent else PLAIN
        self._random = random.Random(seed)
        self._told: deque[Acknowledged] = deque()
        self._ending = threading.Event()
        self._is_abandoned = False
        self.failures: list[str] = []
        self.sent = 0
        self.acknowledged = 0
        codec = self._random.choice(["none", "gzip", "snappy", "lz4", "zstd"])
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": idempotent,
                "acks": "all",
                "compression.type": codec,
                "linger.ms": 1,
                "batch.num.messages": 50,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 50,
                "retry.backoff.ms": 20,
                "retry.backoff.max.ms": 100,
                "delivery.timeout.ms": 60_000,
                "socket.timeout.ms": 10_000,
                "log_level": 0,
                "on_delivery": self._delivered,
            }
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def take(self) -> list[Acknowledged]:
        """What was acknowledged since the last time."""
        return [self._told.popleft() for _ in range(len(self._told))]

    def end(self) -> None:
        """Stop sending and wait until everything was acknowledged."""
        self._ending.set()
        self._thread.join(90)
        assert not self._thread.is_alive()

    def abandon(self) -> None:
        """Stop at once, whatever is still on its way."""
        self._is_abandoned = True
        self.end()

    def values(self) -> list[bytes]:
        return [b"%s-%d-" % (self._name, number) for number in range(self.sent)]

    def _run(self) -> None:
        while not self._ending.is_set():
            for _ in range(BURST):
                self._send()
            self._producer.poll(PACE_S)
        if self._is_abandoned:
            self._producer.purge()
        if self._producer.flush(60) != 0:
            self.failures.append("not everything was acknowledged in the end")

    def _send(self) -> None:
        size = int(self._random.paretovariate(1.2) * 40) % 20_000
        value = b"%s-%d-" % (self._name, self.sent) + self._random.randbytes(size)
        partition = self._random.randrange(self._partitions)
        try:
            self._producer.produce(self._topic, value, b"%d" % self.sent, partition)
            self.sent += 1
        except BufferError:
            self._producer.poll(PACE_S)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
            return
        self.acknowledged += 1
        head = message.value()[:30]
        self._told.append(Acknowledged(message.partition(), message.offset(), _name_of(head)))


def _name_of(value: bytes) -> bytes:
    """The part of a value that says which record it is: `once-17-`."""
    name, number, _ = value.split(b"-", 2)
    return b"%s-%s-" % (name, number)
