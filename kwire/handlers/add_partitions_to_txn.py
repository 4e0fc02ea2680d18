"""AddPartitionsToTxn: a transaction writes to more partitions.

All partitions of a transaction are added, or none. From version 4 on brokers ask, for several
transactions at once, and sometimes only whether partitions were added.
"""

from functools import partial

from kwire.codec.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import fenced_code
from kwire.tasks import Later, all_of, now
from kwire.transactions.commands import AddPartitions
from kwire.transactions.state import VERSION_1, VERSION_2, ProducerIdentity
from kwire.types import TopicPartition

FIRST_VERSION_WITH_PRODUCER_FENCED = 2
FIRST_VERSION_FOR_BROKERS = 4

_Codes = dict[TopicPartition, ErrorCode]


def handle(
    ctx: RequestContext, request: AddPartitionsToTxnRequest
) -> Later[AddPartitionsToTxnResponse]:
    asked = _transactions(ctx, request)
    answered = all_of([_add(ctx, transaction) for transaction in asked])
    return answered.map(lambda codes: _respond(ctx, asked, codes))


def refuse(
    ctx: RequestContext, request: AddPartitionsToTxnRequest, code: ErrorCode
) -> AddPartitionsToTxnResponse:
    if ctx.version >= FIRST_VERSION_FOR_BROKERS:
        return AddPartitionsToTxnResponse(error_code=code)
    asked = _transactions(ctx, request)
    return _respond(ctx, asked, [dict.fromkeys(_partitions(one), code) for one in asked])


def _transactions(
    ctx: RequestContext, request: AddPartitionsToTxnRequest
) -> list[AddPartitionsToTxnTransaction]:
    if ctx.version >= FIRST_VERSION_FOR_BROKERS:
        return request.transactions
    return [
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
    ]


def _partitions(transaction: AddPartitionsToTxnTransaction) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, index)
        for topic in transaction.topics
        for index in topic.partitions
    ]


def _add(ctx: RequestContext, transaction: AddPartitionsToTxnTransaction) -> Later[_Codes]:
    wanted = _partitions(transaction)
    unknown = _unknown(ctx, wanted)
    if unknown:
        codes = dict.fromkeys(wanted, ErrorCode.OPERATION_NOT_ATTEMPTED)
        return now(codes | dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    producer = ProducerIdentity(transaction.producer_id, transaction.producer_epoch)
    if transaction.verify_only:
        return now(_verify(ctx, transaction.transactional_id, producer, wanted))
    is_asked_by_broker = ctx.version >= FIRST_VERSION_FOR_BROKERS
    command = AddPartitions(
        transaction.transactional_id,
        producer,
        frozenset(wanted),
        client_version=VERSION_2 if is_asked_by_broker else VERSION_1,
    )
    return ctx.node.transactions.add_partitions(command).map(partial(_codes, ctx, wanted))


def _unknown(ctx: RequestContext, wanted: list[TopicPartition]) -> list[TopicPartition]:
    topics = ctx.node.controller.image.topics
    return [
        partition
        for partition in wanted
        if partition.topic not in topics
        or partition.partition not in topics[partition.topic].partitions
    ]


def _verify(
    ctx: RequestContext,
    transactional_id: str,
    producer: ProducerIdentity,
    wanted: list[TopicPartition],
) -> _Codes:
    try:
        missing = ctx.node.transactions.missing(transactional_id, producer, wanted)
    except KwireError as refusal:
        return _codes(ctx, wanted, refusal)
    refused = ErrorCode.TRANSACTION_ABORTABLE
    return dict.fromkeys(wanted, ErrorCode.NONE) | dict.fromkeys(missing, refused)


def _codes(ctx: RequestContext, wanted: list[TopicPartition], refusal: KwireError | None) -> _Codes:
    code = ErrorCode.NONE if refusal is None else refusal.code
    told = fenced_code(ctx, code, known_since=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return dict.fromkeys(wanted, told)


def _respond(
    ctx: RequestContext, asked: list[AddPartitionsToTxnTransaction], codes: list[_Codes]
) -> AddPartitionsToTxnResponse:
    results = [
        AddPartitionsToTxnResult(
            transactional_id=transaction.transactional_id, topic_results=_topics(transaction, own)
        )
        for transaction, own in zip(asked, codes, strict=True)
    ]
    if ctx.version >= FIRST_VERSION_FOR_BROKERS:
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)


def _topics(
    transaction: AddPartitionsToTxnTransaction, codes: _Codes
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=codes[TopicPartition(topic.name, index)],
                )
                for index in topic.partitions
            ],
        )
        for topic in transaction.topics
    ]
