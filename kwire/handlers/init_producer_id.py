"""InitProducerId: an idempotent producer gets an id that no other producer ever had, at epoch 0.

The id and epoch that a producer shows from version 3 on (KIP-360) matter only to transactions: who
has no transactional id always gets a new id, as in Kafka. Transactions are not served: a
transactional id is answered as by any broker that does not coordinate it.
"""

from functools import partial

from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.errors import ErrorCode, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1

# Kafka's transaction.max.timeout.ms.
_MAX_TRANSACTION_TIMEOUT_MS = 15 * 60 * 1000


def handle(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Later[InitProducerIdResponse]:
    has_id = request.producer_id != NO_PRODUCER_ID
    has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH
    if has_id != has_epoch:
        raise InvalidRequest("a producer id needs an epoch, and an epoch a producer id")
    if request.transactional_id is not None:
        return refuse(ctx, request, _why_not_transactional(request))
    return ctx.node.producer_ids.next().map(partial(_answer, ctx, request))


def refuse(
    ctx: RequestContext, request: InitProducerIdRequest, code: ErrorCode
) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )


def _answer(
    ctx: RequestContext, request: InitProducerIdRequest, given: int | KwireError
) -> InitProducerIdResponse:
    if isinstance(given, KwireError):
        # The producer asks again, as it does while Kafka waits for ids from its controller; most
        # other errors would end it.
        return refuse(ctx, request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=given, producer_epoch=0)


def _why_not_transactional(request: InitProducerIdRequest) -> ErrorCode:
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= _MAX_TRANSACTION_TIMEOUT_MS:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NOT_COORDINATOR
