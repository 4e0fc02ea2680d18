"""Making sure that a transaction's coordinator knows where the transaction writes (KIP-890).

Newer clients leave it to the broker to add a partition to their transaction with its first records.
Older ones have added it themselves, which is verified: records that come late, when their
transaction is over, would begin one that nobody ends.
"""

from collections.abc import Collection, Mapping

from kwire.errors import (
    ErrorCode,
    InvalidProducerEpoch,
    InvalidTxnState,
    KwireError,
    ProducerFenced,
    TransactionAbortable,
)
from kwire.handlers.context import RequestContext
from kwire.tasks import Later, now
from kwire.transactions.commands import AddPartitions
from kwire.transactions.state import VERSION_2, ProducerIdentity
from kwire.types import TopicPartition

Refusals = Mapping[TopicPartition, KwireError]


def add(
    ctx: RequestContext,
    transactional_id: str,
    producer: ProducerIdentity,
    wanted: frozenset[TopicPartition],
) -> Later[Refusals]:
    """Add partitions to a transaction; nothing is refused, or all of them are."""
    added = ctx.node.transactions.add_partitions(
        AddPartitions(transactional_id, producer, wanted, client_version=VERSION_2)
    )
    return added.map(lambda refusal: _all_refused(wanted, refusal))


def verify(
    ctx: RequestContext,
    transactional_id: str,
    producer: ProducerIdentity,
    wanted: Collection[TopicPartition],
    *,
    knows_abortable: bool,
) -> Later[Refusals]:
    """Which partitions are not part of the transaction."""
    if not ctx.node.config.transaction_partition_verification_enable:
        return now({})
    try:
        missing = ctx.node.transactions.missing(transactional_id, producer, wanted)
    except KwireError as refusal:
        return now(_all_refused(wanted, refusal))
    refused: type[KwireError] = TransactionAbortable if knows_abortable else InvalidTxnState
    text = "the partition was not added to the transaction"
    return now({partition: refused(text) for partition in missing})


def fenced_code(ctx: RequestContext, code: ErrorCode, *, known_since: int) -> ErrorCode:
    """Clients below a version know a fenced producer by another code (KIP-588)."""
    if code is ErrorCode.PRODUCER_FENCED and ctx.version < known_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def _all_refused(wanted: Collection[TopicPartition], refusal: KwireError | None) -> Refusals:
    if refusal is None:
        return {}
    # Producers that write expect to be told so; they abort, and ask for a new epoch.
    told = InvalidProducerEpoch() if isinstance(refusal, ProducerFenced) else refusal
    return dict.fromkeys(wanted, told)
