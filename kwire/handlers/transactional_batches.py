"""The batches of a Produce request that begin a transaction in their partitions.

Their coordinator has to know before they are written. A batch that goes on with what is open in its
partition needs nobody to be asked: the coordinator will end that in any case.
"""

from collections.abc import Iterator

from kwire.codec.messages.produce import ProduceRequest
from kwire.codec.records.batch import BatchHeader, parse_header
from kwire.errors import (
    ErrorCode,
    InvalidProducerIdMapping,
    KwireError,
    NotEnoughReplicas,
)
from kwire.handlers import in_transaction
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import Refusals
from kwire.log.partition_log import PartitionLog
from kwire.replication.partition import Partition
from kwire.tasks import Later, now
from kwire.transactions.state import ProducerIdentity
from kwire.types import TopicPartition

FIRST_VERSION_WITH_TRANSACTION_ABORTABLE = 11
FIRST_VERSION_THAT_ADDS = 12
FIRST_VERSION_WITH_TOPIC_IDS = 13

# Producers do not expect these of a partition. They send again after what Kafka says instead, and
# without asking for new metadata first.
_TO_BE_SENT_AGAIN = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


def enter(ctx: RequestContext, request: ProduceRequest, transactional_id: str) -> Later[Refusals]:
    """Which partitions may not be written to; known at once, unless the disk is waited for."""
    producers = set()
    beginning = set()
    for partition, header in _transactional(ctx, request):
        producer = ProducerIdentity(header.producer_id, header.producer_epoch)
        producers.add(producer)
        if not _is_open(partition.log, producer):
            beginning.add(TopicPartition(partition.topic, partition.index))
    if len(producers) > 1:
        raise InvalidProducerIdMapping("the records are of more than one producer")
    if not beginning:
        return now({})
    (producer,) = producers
    if ctx.version >= FIRST_VERSION_THAT_ADDS:
        entered = in_transaction.add(ctx, transactional_id, producer, frozenset(beginning))
    else:
        knows_abortable = ctx.version >= FIRST_VERSION_WITH_TRANSACTION_ABORTABLE
        entered = in_transaction.verify(
            ctx, transactional_id, producer, beginning, knows_abortable=knows_abortable
        )
    return entered.map(_as_producers_know)


def keep(request: ProduceRequest) -> None:
    """Copy the records, which lie in a connection's buffer: they are written later."""
    for topic in request.topic_data:
        for wanted in topic.partition_data:
            if wanted.records is not None:
                wanted.records = memoryview(bytearray(wanted.records))


def _transactional(
    ctx: RequestContext, request: ProduceRequest
) -> Iterator[tuple[Partition, BatchHeader]]:
    """The batches within a transaction; what cannot be written at all is refused later."""
    hosted = ctx.node.hosted
    for topic in request.topic_data:
        for wanted in topic.partition_data:
            try:
                if ctx.version >= FIRST_VERSION_WITH_TOPIC_IDS:
                    partition = hosted.find_by_id(topic.topic_id, wanted.index)
                else:
                    partition = hosted.find(topic.name, wanted.index)
                header = parse_header(wanted.records or b"")
            except KwireError:
                continue
            if header.is_transactional and header.has_producer:
                yield partition, header


def _is_open(log: PartitionLog, producer: ProducerIdentity) -> bool:
    known = log.producers.get(producer.producer_id)
    return known is not None and known.open_since >= 0 and known.epoch == producer.epoch


def _as_producers_know(refusals: Refusals) -> Refusals:
    return {
        partition: NotEnoughReplicas(f"the transaction cannot be verified: {refusal.message}")
        if refusal.code in _TO_BE_SENT_AGAIN
        else refusal
        for partition, refusal in refusals.items()
    }
