"""DescribeTransactions: how far the transactions of named ids are (KIP-664)."""

from kwire.codec.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
    TransactionTopic,
)
from kwire.errors import ErrorCode, InvalidRequest, KwireError, TransactionalIdNotFound
from kwire.handlers.context import RequestContext
from kwire.transactions.state import Transaction, by_topic


def handle(
    ctx: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(ctx, one) for one in request.transactional_ids]
    )


def refuse(
    ctx: RequestContext, request: DescribeTransactionsRequest, code: ErrorCode
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_refused(one, code) for one in request.transactional_ids]
    )


def _describe(ctx: RequestContext, transactional_id: str) -> TransactionState:
    try:
        known = _find(ctx, transactional_id)
    except KwireError as refusal:
        return _refused(transactional_id, refusal.code)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=known.state.title,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.started_ms,
        producer_id=known.producer_id,
        producer_epoch=known.epoch,
        topics=[
            TransactionTopic(topic=topic, partitions=indexes)
            for topic, indexes in by_topic(known.partitions).items()
        ],
    )


def _find(ctx: RequestContext, transactional_id: str) -> Transaction:
    if not transactional_id:
        raise InvalidRequest()
    found = ctx.node.transactions.reading(transactional_id).transactions.get(transactional_id)
    if found is None:
        raise TransactionalIdNotFound()
    return found


def _refused(transactional_id: str, code: ErrorCode) -> TransactionState:
    return TransactionState(transactional_id=transactional_id, error_code=code)
