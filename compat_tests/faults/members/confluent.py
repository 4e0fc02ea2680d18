"""A member written with confluent-kafka."""

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from compat_tests.faults.members import terms

FLAVOURS: dict[str, dict[str, object]] = {
    "eager": {"partition.assignment.strategy": "range,roundrobin"},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}
CLASSIC: dict[str, object] = {
    "session.timeout.ms": terms.SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": terms.HEARTBEAT_INTERVAL_MS,
}
"""Of the new protocol's groups, the broker decides these."""


class Member:
    def __init__(self) -> None:
        self._terms = terms.parse()
        flavour = FLAVOURS[self._terms.flavour]
        settings = {
            "bootstrap.servers": self._terms.address,
            "group.id": self._terms.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            "reconnect.backoff.max.ms": 200,
            "log_level": 0,
            **flavour,
            **({} if "group.protocol" in flavour else CLASSIC),
        }
        if self._terms.instance:
            settings["group.instance.id"] = self._terms.instance
        self._consumer = Consumer(settings)

    def run(self) -> None:
        self._consumer.subscribe(
            [self._terms.topic],
            on_assign=lambda _, given: self._tell("partitions_assigned", given),
            on_revoke=lambda _, taken: self._tell("partitions_revoked", taken),
            on_lost=lambda _, lost: self._tell("partitions_lost", lost),
        )
        while not terms.is_leaving.is_set():
            messages = self._consumer.consume(terms.RECORDS_AT_ONCE, terms.POLL_S)
            read = [message for message in messages if message.error() is None]
            if read:
                self._account_for(read)
        terms.tell("leaving")
        self._consumer.close()
        terms.tell("shutdown_complete")

    def _tell(self, name: str, places: list[TopicPartition]) -> None:
        terms.tell_partitions(name, self._terms.topic, [place.partition for place in places])

    def _account_for(self, read: list[Message]) -> None:
        first = {message.partition(): message.offset() for message in reversed(read)}
        last = {message.partition(): message.offset() for message in read}
        terms.tell_consumed(self._terms.topic, {p: (first[p], last[p]) for p in first})
        places = [TopicPartition(self._terms.topic, p, last[p] + 1) for p in last]
        try:
            committed = self._consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as refused:
            # Overtaken by a rebalance, or the broker is away: somebody will read them again.
            terms.tell("commit_refused", error=str(refused))
            return
        terms.tell_committed(
            self._terms.topic,
            {place.partition: place.offset for place in committed if place.error is None},
        )


if __name__ == "__main__":
    Member().run()
