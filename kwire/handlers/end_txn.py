"""EndTxn: commit a transaction, or abort it.

The answer comes when it is decided for good, which is before every partition knows.
"""

from functools import partial

from kwire.codec.messages.end_txn import EndTxnRequest, EndTxnResponse
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import fenced_code
from kwire.tasks import Later
from kwire.transactions.commands import EndTransaction
from kwire.transactions.state import VERSION_1, VERSION_2, ProducerIdentity

FIRST_VERSION_WITH_PRODUCER_FENCED = 2
FIRST_VERSION_WITH_NEW_EPOCHS = 5


def handle(ctx: RequestContext, request: EndTxnRequest) -> Later[EndTxnResponse]:
    command = EndTransaction(
        request.transactional_id,
        ProducerIdentity(request.producer_id, request.producer_epoch),
        is_commit=request.committed,
        client_version=VERSION_2 if ctx.version >= FIRST_VERSION_WITH_NEW_EPOCHS else VERSION_1,
    )
    return ctx.node.transactions.end(command).map(partial(_answer, ctx, request))


def refuse(ctx: RequestContext, request: EndTxnRequest, code: ErrorCode) -> EndTxnResponse:
    told = fenced_code(ctx, code, known_since=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return EndTxnResponse(error_code=told)


def _answer(
    ctx: RequestContext, request: EndTxnRequest, outcome: ProducerIdentity | KwireError
) -> EndTxnResponse:
    if isinstance(outcome, KwireError):
        return refuse(ctx, request, outcome.code)
    return EndTxnResponse(producer_id=outcome.producer_id, producer_epoch=outcome.epoch)
