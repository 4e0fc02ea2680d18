"""What producers and readers of transactions ask for: with defaults that work.

A coordinator that is still ending the last transaction says so, and any client asks again: so do
these steps, and only the answer that stands is recorded.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from compat_tests.scenarios.group_steps import Group, Membership
from compat_tests.scenarios.play import Play, Topic
from kwire.codec.apis import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    DESCRIBE_PRODUCERS,
    DESCRIBE_TRANSACTIONS,
    END_TXN,
    FETCH,
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)
from kwire.codec.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
from kwire.codec.messages.describe_producers import DescribeProducersTopic
from kwire.codec.messages.fetch import FetchPartition, FetchTopic
from kwire.codec.messages.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from kwire.codec.messages.produce import ProducePartition, ProduceTopic
from kwire.codec.messages.txn_offset_commit import TxnOffsetCommitPartition, TxnOffsetCommitTopic
from kwire.codec.records.builder import build_batch, number
from kwire.codec.schema import fields_of
from kwire.errors import ErrorCode

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
EARLIEST, LATEST = -2, -1

IN_BETWEEN = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_ENOUGH_REPLICAS)
"""The second is how Produce puts the first."""


class Producer:
    """One producer and what it was told to call itself; `None` for no transactions at all."""

    def __init__(self, play: Play, noun: str | None = "transaction") -> None:
        self.play = play
        self.transactional_id = None if noun is None else play.name(noun)
        self.producer_id = -1
        self.epoch = -1

    def init(self, *, version: int = 4, timeout_ms: int = 60_000, **changes: Any) -> Any:
        """Ask for an id and epoch, and go by them from now on."""
        told = self.play.ask(
            INIT_PRODUCER_ID,
            version,
            until=_settled,
            transactional_id=self.transactional_id,
            transaction_timeout_ms=timeout_ms,
            **changes,
        )
        if told.error_code == ErrorCode.NONE:
            self.producer_id, self.epoch = told.producer_id, told.producer_epoch
        return told

    def bump(
        self, *, version: int = 4, epoch: int | None = None, producer_id: int | None = None
    ) -> Any:
        """Show id and epoch, and ask for the next epoch (KIP-360)."""
        return self.init(
            version=version,
            producer_id=self.producer_id if producer_id is None else producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
        )

    def add(
        self, *topics: Topic, partitions: Sequence[int] = (0,), version: int = 3, **changes: Any
    ) -> Any:
        named = [
            AddPartitionsToTxnTopic(name=one.name, partitions=list(partitions)) for one in topics
        ]
        who = {**self._who(), **changes}
        return self.play.ask(
            ADD_PARTITIONS_TO_TXN,
            version,
            until=_settled,
            v3_and_below_topics=named,
            **{f"v3_and_below_{name}": value for name, value in who.items()},
        )

    def end(self, *, commits: bool = True, version: int = 4, **changes: Any) -> Any:
        """Commit, or abort; from version 5 on the producer goes by the epoch it is told."""
        told = self.play.ask(
            END_TXN, version, until=_settled, committed=commits, **{**self._who(), **changes}
        )
        if told.error_code == ErrorCode.NONE and version >= 5:
            self.producer_id, self.epoch = told.producer_id, told.producer_epoch
        return told

    def add_offsets(self, group: Group, *, version: int = 3, **changes: Any) -> Any:
        who = {**self._who(), "group_id": group.group_id, **changes}
        return self.play.ask(ADD_OFFSETS_TO_TXN, version, until=_settled, **who)

    def commit_offsets(
        self,
        group: Group,
        topic: Topic,
        *,
        member: Membership | None = None,
        version: int = 3,
        offset: int = 5,
        partition: int = 0,
        metadata: str | None = "note",
        **changes: Any,
    ) -> Any:
        committed = TxnOffsetCommitPartition(
            partition_index=partition,
            committed_offset=offset,
            committed_leader_epoch=0,
            committed_metadata=metadata,
        )
        by = member or Membership("", -1)
        who = {
            **self._who(),
            "group_id": group.group_id,
            "member_id": by.member_id,
            "generation_id": by.generation,
            "group_instance_id": by.instance_id,
            **changes,
        }
        topics = [TxnOffsetCommitTopic(name=topic.name, partitions=[committed])]
        return self.play.ask(TXN_OFFSET_COMMIT, version, until=_settled, topics=topics, **who)

    def produce(
        self,
        topic: Topic,
        *,
        sequence: int = 0,
        count: int = 1,
        partition: int = 0,
        version: int = 11,
        transactional: bool | None = None,
        producer_id: int | None = None,
        epoch: int | None = None,
        **changes: Any,
    ) -> Any:
        """Send one batch of `count` records."""
        is_transactional = self.transactional_id is not None
        batch = build_batch(
            number([(b"key", b"value")] * count, time.time_ns() // 1_000_000),
            producer_id=self.producer_id if producer_id is None else producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=sequence,
            transactional=is_transactional if transactional is None else transactional,
        )
        data = [ProducePartition(index=partition, records=memoryview(batch))]
        topics = [ProduceTopic(name=topic.name, topic_id=topic.topic_id, partition_data=data)]
        fields = {"transactional_id": self.transactional_id, "acks": -1, "timeout_ms": 5000}
        return self.play.ask(
            PRODUCE, version, until=_settled, topic_data=topics, **{**fields, **changes}
        )

    def describe(self) -> Any:
        """How the transaction stands; one that is ending may end first."""
        return self._describe(lambda state: not state.startswith("Prepare"))

    def until_state(self, state: str) -> Any:
        return self._describe(lambda told: told == state)

    def _describe(self, accept: Callable[[str], bool]) -> Any:
        return self.play.ask(
            DESCRIBE_TRANSACTIONS,
            0,
            until=lambda told: accept(told.transaction_states[0].transaction_state),
            transactional_ids=[self.transactional_id or ""],
        )

    def begin(self, topic: Topic, **changes: Any) -> None:
        """A new producer with one record in an open transaction."""
        self.init(**changes)
        self.add(topic)
        self.produce(topic)

    def _who(self) -> dict[str, Any]:
        return {
            "transactional_id": self.transactional_id or "",
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
        }


def fetch(
    play: Play,
    topic: Topic,
    isolation: int = READ_COMMITTED,
    *,
    offset: int = 0,
    partition: int = 0,
    version: int = 12,
) -> Any:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[asked])]
    return play.ask(FETCH, version, isolation_level=isolation, topics=topics, min_bytes=0)


def list_offset(
    play: Play, topic: Topic, isolation: int = READ_COMMITTED, timestamp: int = LATEST
) -> Any:
    asked = [ListOffsetsPartition(partition_index=0, timestamp=timestamp)]
    topics = [ListOffsetsTopic(name=topic.name, partitions=asked)]
    return play.ask(LIST_OFFSETS, 7, replica_id=-1, isolation_level=isolation, topics=topics)


def until_stable(play: Play, topic: Topic) -> Any:
    """Ask for the ends until nothing of the topic's first partition is undecided."""
    return play.ask(
        FETCH,
        12,
        until=lambda told: bool(
            told.responses[0].partitions[0].last_stable_offset
            == told.responses[0].partitions[0].high_watermark
        ),
        isolation_level=READ_COMMITTED,
        min_bytes=0,
        topics=[
            FetchTopic(
                topic=topic.name,
                partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)],
            )
        ],
    )


def describe_producers(play: Play, topic: Topic, *partitions: int) -> Any:
    asked = [DescribeProducersTopic(name=topic.name, partition_indexes=list(partitions))]
    return play.ask(DESCRIBE_PRODUCERS, 0, topics=asked)


def _settled(told: Any) -> bool:
    return not any(code in IN_BETWEEN for code in _codes(told))


def _codes(value: Any) -> list[int]:
    """Every error code in an answer, however deep."""
    if isinstance(value, list):
        return [code for one in value for code in _codes(one)]
    if not hasattr(type(value), "__fields__"):
        return []
    found: list[int] = []
    for field in fields_of(type(value)):
        inner = getattr(value, field.name)
        found += [inner] if field.name.endswith("error_code") else _codes(inner)
    return found
