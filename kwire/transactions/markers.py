"""Writing the markers that end transactions, to every kind of partition.

Those of `__consumer_offsets` belong to the groups: their coordinator writes the marker in its turn,
since it has to count or forget the offsets at the same time.
"""

from collections.abc import Callable

from kwire.clock import Clock
from kwire.codec.records.builder import build_batch, number
from kwire.codec.records.control import marker_key, marker_value
from kwire.coordinator.decision import TransactionEnd
from kwire.errors import InvalidProducerEpoch, KwireError, UnknownTopicOrPartition
from kwire.log.flush import GroupCommit, needs_flush
from kwire.replication.hosted import Hosted
from kwire.replication.partition import Partition
from kwire.tasks import Later, now
from kwire.types import TopicPartition

FIRST_VERSION_WITH_EPOCHS_OF_THEIR_OWN = 2

Written = Later[KwireError | None]
EndOffsets = Callable[[int, TransactionEnd], Written]
"""Have a partition of the groups' topic end a transaction."""


class Markers:
    def __init__(
        self,
        hosted: Hosted,
        group_commit: GroupCommit,
        clock: Clock,
        offsets_topic: str,
        end_offsets: EndOffsets,
    ) -> None:
        self._hosted = hosted
        self._group_commit = group_commit
        self._clock = clock
        self._offsets_topic = offsets_topic
        self._end_offsets = end_offsets

    def write(self, end: TransactionEnd, where: TopicPartition, version: int) -> Written:
        """Write one marker; None comes when it is as durable as the topic wants its records."""
        try:
            partition = self._hosted.find(*where)
            _check_epoch(partition, end, version)
            if where.topic == self._offsets_topic:
                return self._end_offsets(where.partition, end)
            partition.append_own(_batch(end, self._clock.now_ms()))
        except KwireError as refusal:
            return now(refusal)
        return self._durable(partition)

    def write_if_open(self, end: TransactionEnd, where: TopicPartition, version: int) -> Written:
        """The same after an interruption: where the transaction has ended nothing is written."""
        try:
            partition = self._hosted.find(*where)
        except UnknownTopicOrPartition:
            return now(None)
        except KwireError as refusal:
            return now(refusal)
        producer = partition.log.producers.get(end.producer_id)
        if producer is None or producer.open_since < 0:
            return now(None)
        return self.write(end, where, version)

    def _durable(self, partition: Partition) -> Written:
        if not needs_flush(partition.log):
            return now(None)
        written: Written = Later()
        self._group_commit.after_flush(partition.log, written.complete)
        return written


def _check_epoch(partition: Partition, end: TransactionEnd, version: int) -> None:
    """Refuse a marker that comes late: since version 2 it has an epoch that no record has."""
    if version < FIRST_VERSION_WITH_EPOCHS_OF_THEIR_OWN:
        return
    producer = partition.log.producers.get(end.producer_id)
    if producer is not None and end.producer_epoch <= producer.epoch:
        raise InvalidProducerEpoch(
            f"producer {end.producer_id} has epoch {producer.epoch} here,"
            f" the marker has {end.producer_epoch}"
        )


def _batch(end: TransactionEnd, now_ms: int) -> bytearray:
    pair = (marker_key(is_abort=not end.is_commit), marker_value(end.coordinator_epoch))
    return build_batch(
        number([pair], now_ms),
        producer_id=end.producer_id,
        producer_epoch=end.producer_epoch,
        transactional=True,
        control=True,
    )
