"""Copies with aiokafka; what it cannot recover from ends it.

This client rebalances in the background and commits offsets without saying as which member: it is
the lock that keeps a partition from moving on while its records are being copied, and the count
that tells of records which a rebalance has overtaken.
"""

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError

from compat_tests.faults.copiers import terms


class Copier(ConsumerRebalanceListener):  # type: ignore[misc]  # the library is untyped
    def __init__(self) -> None:
        self._terms, self._random = terms.parse()
        self._is_copying = asyncio.Lock()
        self._rebalances = 0
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=self._terms.address,
            group_id=self._terms.group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            session_timeout_ms=terms.SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=terms.HEARTBEAT_INTERVAL_MS,
            fetch_max_wait_ms=50,
        )
        self._producer = AIOKafkaProducer(
            bootstrap_servers=self._terms.address,
            transactional_id=self._terms.transactional_id,
            transaction_timeout_ms=self._terms.transaction_timeout_ms,
            max_batch_size=512,
        )

    async def run(self) -> None:
        await self._producer.start()
        await self._consumer.start()
        self._consumer.subscribe([self._terms.source], listener=self)
        while True:
            rebalances = self._rebalances
            batch = await self._consumer.getmany(
                timeout_ms=int(terms.POLL_S * 1000), max_records=terms.RECORDS_PER_TRANSACTION
            )
            async with self._is_copying:
                if rebalances == self._rebalances:
                    await self._copy(batch)
                else:
                    await self._rewind(batch)

    async def on_partitions_revoked(self, revoked: object) -> None:
        async with self._is_copying:
            self._rebalances += 1

    async def on_partitions_assigned(self, assigned: object) -> None:
        return

    async def _copy(self, batch: dict[Any, list[Any]]) -> None:
        if not batch:
            return
        try:
            is_aborted = await self._transact(batch)
        except KafkaError as failed:
            print(f"{failed!r}", flush=True)
            await self._producer.abort_transaction()
            is_aborted = True
        if is_aborted:
            await self._rewind(batch)

    async def _transact(self, batch: dict[Any, list[Any]]) -> bool:
        """Whether it was aborted on purpose."""
        await self._producer.begin_transaction()
        for place, records in batch.items():
            for record in records:
                await self._producer.send(
                    self._terms.target, record.value, record.key, place.partition
                )
        read = {place: records[-1].offset + 1 for place, records in batch.items()}
        await self._producer.send_offsets_to_transaction(read, self._terms.group)
        is_aborted = self._random.random() < terms.ABORTED
        if is_aborted:
            await self._producer.abort_transaction()
        else:
            await self._producer.commit_transaction()
        return is_aborted

    async def _rewind(self, batch: dict[Any, list[Any]]) -> None:
        for place in self._consumer.assignment() & set(batch):
            self._consumer.seek(place, await self._consumer.committed(place) or 0)


async def main() -> None:
    await Copier().run()


if __name__ == "__main__":
    asyncio.run(main())
