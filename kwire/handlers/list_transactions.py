"""ListTransactions: the transactional ids that this broker coordinates (KIP-664, 994, 1152)."""

from collections.abc import Iterator

from kwire.codec.messages.list_transactions import (
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kwire.errors import ErrorCode
from kwire.groups.topic_patterns import TopicPattern, pattern
from kwire.handlers.context import RequestContext
from kwire.transactions.state import Transaction, TransactionState

_BY_TITLE = {state.title: state for state in TransactionState}


def handle(ctx: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    expression = request.transactional_id_pattern
    wanted = _Filter(request, pattern(expression) if expression else None, ctx.node.clock.now_ms())
    return ListTransactionsResponse(
        unknown_state_filters=[one for one in request.state_filters if one not in _BY_TITLE],
        transaction_states=[
            ListedTransaction(
                transactional_id=known.transactional_id,
                producer_id=known.producer_id,
                transaction_state=known.state.title,
            )
            for known in _all(ctx)
            if wanted.lets_through(known)
        ],
    )


def refuse(
    ctx: RequestContext, request: ListTransactionsRequest, code: ErrorCode
) -> ListTransactionsResponse:
    return ListTransactionsResponse(error_code=code)


def _all(ctx: RequestContext) -> Iterator[Transaction]:
    for machine in ctx.node.transactions.reading_all():
        yield from machine.transactions.values()


class _Filter:
    """Of each filter: nothing given lets everything through."""

    def __init__(
        self, request: ListTransactionsRequest, expression: TopicPattern | None, now_ms: int
    ) -> None:
        self._states = frozenset(request.state_filters)
        self._producer_ids = frozenset(request.producer_id_filters)
        self._duration_ms = request.duration_filter
        self._pattern = expression
        self._now_ms = now_ms

    def lets_through(self, known: Transaction) -> bool:
        if self._states and known.state.title not in self._states:
            return False
        if self._producer_ids and known.producer_id not in self._producer_ids:
            return False
        if self._duration_ms >= 0 and self._now_ms - known.started_ms <= self._duration_ms:
            return False
        return self._pattern is None or self._pattern.matches(known.transactional_id)
