"""What groups have committed, and what transactions are about to commit for them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kwire.codec.internal import offsets
from kwire.codec.internal.offsets import NO_EXPIRY, CommittedOffset
from kwire.config.broker import BrokerConfig
from kwire.coordinator.decision import NO_PRODUCER, Decision, StoredRecord
from kwire.errors import ErrorCode
from kwire.groups.commands import Commit
from kwire.types import TopicPartition


class _Stored(NamedTuple):
    committed: CommittedOffset
    record_offset: int
    """Where the log has it: of a plain and a transactional commit the later record counts."""


class Offsets:
    """Committed offsets by group and partition; changed by `apply` and `end_transaction` alone."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[TopicPartition, _Stored]] = {}
        self._open: dict[int, dict[str, dict[TopicPartition, _Stored]]] = {}

    def of(self, group_id: str) -> Mapping[TopicPartition, CommittedOffset]:
        found = self._groups.get(group_id, {})
        return {partition: stored.committed for partition, stored in found.items()}

    def get(self, group_id: str, partition: TopicPartition) -> CommittedOffset | None:
        stored = self._groups.get(group_id, {}).get(partition)
        return None if stored is None else stored.committed

    def is_unstable(self, group_id: str, partition: TopicPartition) -> bool:
        """Whether an open transaction may still change it (KIP-447)."""
        return any(partition in groups.get(group_id, {}) for groups in self._open.values())

    def has_open_transactions(self, group_id: str) -> bool:
        return any(groups.get(group_id) for groups in self._open.values())

    def partitions_of(self, group_id: str) -> list[TopicPartition]:
        """Everything stored for a group, by transactions that are not over too."""
        return [*dict.fromkeys(self._each_of(group_id))]

    def with_topics(self, topics: Iterable[str]) -> Iterator[tuple[str, TopicPartition]]:
        """Everything stored for some topics, with its group."""
        wanted = frozenset(topics)
        for group_id in {*self._groups, *(one for open_ in self._open.values() for one in open_)}:
            for partition in self.partitions_of(group_id):
                if partition.topic in wanted:
                    yield group_id, partition

    def apply(self, record: StoredRecord) -> str:
        """Take over what the log says of one partition; returns the group."""
        key = offsets.read_key(record.key)
        partition = TopicPartition(key.topic, key.partition)
        if record.value is None:
            self._remove(key.group, partition)
            return key.group
        stored = _Stored(offsets.read_value(record.value), record.offset)
        if record.producer_id == NO_PRODUCER:
            self._groups.setdefault(key.group, {})[partition] = stored
        else:
            groups = self._open.setdefault(record.producer_id, {})
            groups.setdefault(key.group, {})[partition] = stored
        return key.group

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        ended = self._open.pop(producer_id, {})
        if not is_committed:
            return
        for group_id, partitions in ended.items():
            group = self._groups.setdefault(group_id, {})
            for partition, stored in partitions.items():
                known = group.get(partition)
                if known is None or known.record_offset < stored.record_offset:
                    group[partition] = stored

    def _each_of(self, group_id: str) -> Iterator[TopicPartition]:
        yield from self._groups.get(group_id, {})
        for groups in self._open.values():
            yield from groups.get(group_id, {})

    def _remove(self, group_id: str, partition: TopicPartition) -> None:
        for groups in (self._groups, *self._open.values()):
            group = groups.get(group_id)
            if group is not None:
                group.pop(partition, None)
                if not group:
                    del groups[group_id]


def commit(
    command: Commit, config: BrokerConfig, decision: Decision, now_ms: int
) -> list[ErrorCode]:
    """Write down what a group has read; the caller has made sure that it may."""
    expiry_ms = NO_EXPIRY if command.retention_ms is None else now_ms + command.retention_ms
    codes = []
    for one in command.offsets:
        if len(one.metadata) > config.offset_metadata_max_bytes:
            codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
            continue
        committed = CommittedOffset(one.offset, one.leader_epoch, one.metadata, now_ms, expiry_ms)
        decision.write(
            offsets.write_key(command.group_id, one.topic, one.partition),
            offsets.write_value(committed),
        )
        codes.append(ErrorCode.NONE)
    return codes


def forget(group_id: str, partition: TopicPartition, decision: Decision) -> None:
    decision.write(offsets.write_key(group_id, partition.topic, partition.partition), None)
