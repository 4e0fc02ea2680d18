"""Copies with kafka-python; whatever fails ends it.

This client rebalances in the background. It commits offsets as the member it was before it read,
so that the coordinator refuses whatever a rebalance has overtaken (KIP-447). Then the producer is
of no use any more: kafka-python 3.0.12 sends offsets that were refused again, as part of its next
transaction, and the records of the aborted one would be lost.
"""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata

from compat_tests.faults.copiers import terms


class Copier:
    def __init__(self) -> None:
        self._terms, self._random = terms.parse()
        self._consumer = KafkaConsumer(
            bootstrap_servers=self._terms.address,
            group_id=self._terms.group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            session_timeout_ms=terms.SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=terms.HEARTBEAT_INTERVAL_MS,
            fetch_max_wait_ms=50,
            reconnect_backoff_max_ms=200,
        )
        self._producer = KafkaProducer(
            bootstrap_servers=self._terms.address,
            transactional_id=self._terms.transactional_id,
            transaction_timeout_ms=self._terms.transaction_timeout_ms,
            batch_size=512,
            linger_ms=1,
            reconnect_backoff_max_ms=200,
        )

    def run(self) -> None:
        self._producer.init_transactions()
        # Known before it is shared out: a leader that knows no partitions gives nobody any.
        self._consumer.partitions_for_topic(self._terms.source)
        self._consumer.subscribe([self._terms.source])
        while True:
            member = self._consumer.group_metadata()
            batch = self._consumer.poll(
                timeout_ms=int(terms.POLL_S * 1000), max_records=terms.RECORDS_PER_TRANSACTION
            )
            if batch:
                self._copy(batch, member)

    def _copy(self, batch: dict[Any, list[Any]], member: Any) -> None:
        if member.generation_id < 0:
            # It became a member while it read, and cannot prove it yet.
            self._rewind()
            return
        if self._transact(batch, member):
            self._rewind()

    def _transact(self, batch: dict[Any, list[Any]], member: Any) -> bool:
        """Whether it was aborted on purpose."""
        self._producer.begin_transaction()
        for place, records in batch.items():
            for record in records:
                self._producer.send(
                    self._terms.target, record.value, record.key, partition=place.partition
                )
        read = {
            place: OffsetAndMetadata(records[-1].offset + 1, "", -1)
            for place, records in batch.items()
        }
        self._producer.send_offsets_to_transaction(read, member)
        is_aborted = self._random.random() < terms.ABORTED
        if is_aborted:
            self._producer.abort_transaction()
        else:
            self._producer.commit_transaction()
        return is_aborted

    def _rewind(self) -> None:
        """Go on from what is committed: others may have copied more meanwhile."""
        for place in self._consumer.assignment():
            self._consumer.seek(place, self._consumer.committed(place) or 0)


if __name__ == "__main__":
    Copier().run()
