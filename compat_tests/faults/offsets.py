"""What a bystander sees: committed offsets, the ends of partitions and their records."""

import time
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, TopicPartition

from compat_tests.crash.ledger import Broken

PATIENCE_S = 30.0


class Copied(NamedTuple):
    """A record without the place it is at."""

    key: bytes | None
    value: bytes | None


class Bystander:
    """Reads in the name of a group without ever joining it."""

    def __init__(
        self, address: str, topic: str, partitions: int, *, group: str, committed_only: bool = False
    ) -> None:
        self._places = [TopicPartition(topic, index) for index in range(partitions)]
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": group,
                "isolation.level": "read_committed" if committed_only else "read_uncommitted",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )

    def __enter__(self) -> "Bystander":
        return self

    def __exit__(self, *error: object) -> None:
        self._consumer.close()

    def committed(self) -> list[int] | None:
        """The next offset of each partition, 0 where there is none; None while nobody answers."""
        try:
            found = self._consumer.committed(self._places, timeout=2)
        except KafkaException:
            return None
        if any(one.error is not None for one in found):
            return None
        return [max(one.offset, 0) for one in found]

    def ends(self) -> list[int]:
        """The last stable offsets, or the high watermarks of one who reads everything."""
        asked = (self._consumer.get_watermark_offsets(one, PATIENCE_S) for one in self._places)
        return [end for _, end in asked]

    def rest(self, for_s: float) -> None:
        """Let some time pass before the next question."""
        self._consumer.poll(for_s)

    def read_all(self) -> list[list[Copied]]:
        """Every visible record of each partition, in order."""
        return [self._read(place) for place in self._places]

    def _read(self, place: TopicPartition) -> list[Copied]:
        records: list[Copied] = []
        deadline = time.monotonic() + PATIENCE_S
        self._consumer.assign([TopicPartition(place.topic, place.partition, 0)])
        while time.monotonic() < deadline:
            for message in self._consumer.consume(10_000, timeout=0.2):
                if message.error() is None:
                    records.append(Copied(message.key(), message.value()))
                elif message.error().name() == "_PARTITION_EOF":
                    return records
                else:
                    raise Broken(message.error().str())
        raise Broken(f"no end of {place} after {len(records)} records")
