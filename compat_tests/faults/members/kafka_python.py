"""A member written with kafka-python."""

from collections.abc import Iterable
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from compat_tests.faults.members import terms

FLAVOURS = {"eager": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


class Member(ConsumerRebalanceListener):  # type: ignore[misc]  # the library is untyped
    def __init__(self) -> None:
        self._terms = terms.parse()
        self._consumer = KafkaConsumer(
            bootstrap_servers=self._terms.address,
            group_id=self._terms.group,
            group_instance_id=self._terms.instance or None,
            partition_assignment_strategy=[FLAVOURS[self._terms.flavour]],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=terms.SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=terms.HEARTBEAT_INTERVAL_MS,
            fetch_max_wait_ms=50,
            reconnect_backoff_max_ms=200,
        )

    def run(self) -> None:
        # Known before it is shared out: a leader that knows no partitions gives nobody any.
        self._consumer.partitions_for_topic(self._terms.topic)
        self._consumer.subscribe([self._terms.topic], listener=self)
        while not terms.is_leaving.is_set():
            polled = self._consumer.poll(int(terms.POLL_S * 1000), terms.RECORDS_AT_ONCE)
            if polled:
                self._account_for(polled)
        terms.tell("leaving")
        self._consumer.close()
        terms.tell("shutdown_complete")

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        self._tell("partitions_assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        self._tell("partitions_revoked", revoked)

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._tell("partitions_lost", lost)

    def _tell(self, name: str, places: Iterable[Any]) -> None:
        terms.tell_partitions(name, self._terms.topic, [place.partition for place in places])

    def _account_for(self, polled: dict[Any, list[Any]]) -> None:
        terms.tell_consumed(
            self._terms.topic,
            {
                place.partition: (records[0].offset, records[-1].offset)
                for place, records in polled.items()
            },
        )
        read = {place: records[-1].offset + 1 for place, records in polled.items()}
        try:
            self._consumer.commit(
                {place: OffsetAndMetadata(offset, "", -1) for place, offset in read.items()}
            )
        except KafkaError as refused:
            # Overtaken by a rebalance, or the broker is away: somebody will read them again.
            terms.tell("commit_refused", error=repr(refused))
            return
        terms.tell_committed(
            self._terms.topic, {place.partition: offset for place, offset in read.items()}
        )


if __name__ == "__main__":
    Member().run()
