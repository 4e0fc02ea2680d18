"""AddOffsetsToTxn: a transaction will commit a group's offsets, and so end in its log too."""

from functools import partial

from kwire.codec.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import fenced_code
from kwire.tasks import Later
from kwire.transactions.commands import AddPartitions
from kwire.transactions.state import ProducerIdentity

FIRST_VERSION_WITH_PRODUCER_FENCED = 2


def handle(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> Later[AddOffsetsToTxnResponse]:
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    partition = ctx.node.groups.partition_of(request.group_id)
    added = ctx.node.transactions.add_partitions(
        AddPartitions(request.transactional_id, producer, frozenset({partition}))
    )
    return added.map(partial(_answer, ctx, request))


def refuse(
    ctx: RequestContext, request: AddOffsetsToTxnRequest, code: ErrorCode
) -> AddOffsetsToTxnResponse:
    told = fenced_code(ctx, code, known_since=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return AddOffsetsToTxnResponse(error_code=told)


def _answer(
    ctx: RequestContext, request: AddOffsetsToTxnRequest, refusal: KwireError | None
) -> AddOffsetsToTxnResponse:
    return refuse(ctx, request, ErrorCode.NONE if refusal is None else refusal.code)
