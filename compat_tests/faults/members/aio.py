"""A member written with aiokafka."""

import asyncio
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError

from compat_tests.faults.members import terms


class Member(ConsumerRebalanceListener):  # type: ignore[misc]  # the library is untyped
    def __init__(self) -> None:
        self._terms = terms.parse()
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=self._terms.address,
            group_id=self._terms.group,
            group_instance_id=self._terms.instance or None,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=terms.SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=terms.HEARTBEAT_INTERVAL_MS,
            fetch_max_wait_ms=50,
        )

    async def run(self) -> None:
        await self._consumer.start()
        self._consumer.subscribe([self._terms.topic], listener=self)
        while not terms.is_leaving.is_set():
            polled = await self._consumer.getmany(
                timeout_ms=int(terms.POLL_S * 1000), max_records=terms.RECORDS_AT_ONCE
            )
            if polled:
                await self._account_for(polled)
        terms.tell("leaving")
        await self._consumer.stop()
        terms.tell("shutdown_complete")

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        self._tell("partitions_assigned", assigned)

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        # This client calls it revoked, too, when the coordinator does not know it any more.
        is_member = self._consumer._coordinator.generation > 0
        self._tell("partitions_revoked" if is_member else "partitions_lost", revoked)

    def _tell(self, name: str, places: Iterable[Any]) -> None:
        terms.tell_partitions(name, self._terms.topic, [place.partition for place in places])

    async def _account_for(self, polled: dict[Any, list[Any]]) -> None:
        terms.tell_consumed(
            self._terms.topic,
            {
                place.partition: (records[0].offset, records[-1].offset)
                for place, records in polled.items()
            },
        )
        read = {place: records[-1].offset + 1 for place, records in polled.items()}
        try:
            await self._consumer.commit(read)
        except KafkaError as refused:
            # Overtaken by a rebalance, or the broker is away: somebody will read them again.
            terms.tell("commit_refused", error=repr(refused))
            return
        terms.tell_committed(
            self._terms.topic, {place.partition: offset for place, offset in read.items()}
        )


async def main() -> None:
    await Member().run()


if __name__ == "__main__":
    asyncio.run(main())
