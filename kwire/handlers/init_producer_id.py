"""InitProducerId: an id and an epoch for a producer, before it writes.

A producer without transactions gets a new id each time. A transactional id keeps its producer id:
whoever asks last has the newest epoch, and fences the others; what they left open is aborted first.
"""

from functools import partial

from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.errors import ErrorCode, InvalidRequest, KwireError
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import fenced_code
from kwire.tasks import Later
from kwire.transactions.commands import InitProducer
from kwire.transactions.state import ProducerIdentity

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
FIRST_VERSION_WITH_PRODUCER_FENCED = 4


def handle(ctx: RequestContext, request: InitProducerIdRequest) -> Later[InitProducerIdResponse]:
    has_id = request.producer_id != NO_PRODUCER_ID
    has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH
    if has_id != has_epoch:
        raise InvalidRequest("a producer id needs an epoch, and an epoch a producer id")
    if request.transactional_id is None:
        return ctx.node.producer_ids.next().map(partial(_answer_new, ctx, request))
    expected = ProducerIdentity(request.producer_id, request.producer_epoch) if has_id else None
    answered = ctx.node.transactions.init_producer(
        InitProducer(request.transactional_id, request.transaction_timeout_ms, expected)
    )
    return answered.map(partial(_answer, ctx, request))


def refuse(
    ctx: RequestContext, request: InitProducerIdRequest, code: ErrorCode
) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=fenced_code(ctx, code, known_since=FIRST_VERSION_WITH_PRODUCER_FENCED),
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
    )


def _answer_new(
    ctx: RequestContext, request: InitProducerIdRequest, given: int | KwireError
) -> InitProducerIdResponse:
    if isinstance(given, KwireError):
        # The producer asks again, as it does while Kafka waits for ids from its controller; most
        # other errors would end it.
        return refuse(ctx, request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=given, producer_epoch=0)


def _answer(
    ctx: RequestContext, request: InitProducerIdRequest, given: ProducerIdentity | KwireError
) -> InitProducerIdResponse:
    if isinstance(given, KwireError):
        return refuse(ctx, request, given.code)
    return InitProducerIdResponse(producer_id=given.producer_id, producer_epoch=given.epoch)
