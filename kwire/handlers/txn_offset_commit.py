"""TxnOffsetCommit: a group's offsets, which count when the transaction commits.

From version 5 on the group's log becomes part of the transaction by this very request.
"""

from kwire.codec.messages.txn_offset_commit import (
    TxnOffsetCommitPartition,
    TxnOffsetCommitPartitionResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitTopic,
    TxnOffsetCommitTopicResponse,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import Commit, OffsetToCommit
from kwire.groups.transactional import TransactionalCommit
from kwire.handlers import in_transaction
from kwire.handlers.context import RequestContext
from kwire.handlers.in_transaction import Refusals
from kwire.tasks import Later
from kwire.transactions.state import ProducerIdentity

FIRST_VERSION_WITH_LOAD_IN_PROGRESS = 2
FIRST_VERSION_WITH_TRANSACTION_ABORTABLE = 4
FIRST_VERSION_THAT_ADDS = 5

_Pending = list[TxnOffsetCommitPartitionResponse]


def handle(
    ctx: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Later[TxnOffsetCommitResponse]:
    offsets: list[OffsetToCommit] = []
    pending: _Pending = []
    response = TxnOffsetCommitResponse(
        topics=[_check_topic(ctx, topic, offsets, pending) for topic in request.topics]
    )
    if not offsets:
        return response
    commit = Commit(
        request.group_id,
        tuple(offsets),
        member_id=request.member_id,
        generation=request.generation_id,
        instance_id=request.group_instance_id,
    )
    answered = _commit(ctx, request, commit)
    return answered.map(lambda answer: _respond(ctx, response, pending, answer))


def refuse(
    ctx: RequestContext, request: TxnOffsetCommitRequest, code: ErrorCode
) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(topics=[_refuse_topic(topic, code) for topic in request.topics])


def _commit(
    ctx: RequestContext, request: TxnOffsetCommitRequest, commit: Commit
) -> Later[list[ErrorCode] | KwireError]:
    """Commit once the coordinator of the transaction knows that it ends in the group's log."""
    answer: Later[list[ErrorCode] | KwireError] = Later()
    command = TransactionalCommit(commit, request.producer_id, request.producer_epoch)

    def entered(refusals: Refusals) -> None:
        refusal = next(iter(refusals.values()), None)
        if refusal is None:
            ctx.node.groups.commit_in_transaction(command).then(answer.complete)
        else:
            answer.complete(refusal)

    if not request.group_id:
        entered({})
    else:
        _enter(ctx, request).then(entered)
    return answer


def _enter(ctx: RequestContext, request: TxnOffsetCommitRequest) -> Later[Refusals]:
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    partition = ctx.node.groups.partition_of(request.group_id)
    if ctx.version >= FIRST_VERSION_THAT_ADDS:
        return in_transaction.add(ctx, request.transactional_id, producer, frozenset({partition}))
    return in_transaction.verify(
        ctx,
        request.transactional_id,
        producer,
        [partition],
        knows_abortable=ctx.version >= FIRST_VERSION_WITH_TRANSACTION_ABORTABLE,
    )


def _check_topic(
    ctx: RequestContext,
    topic: TxnOffsetCommitTopic,
    offsets: list[OffsetToCommit],
    pending: _Pending,
) -> TxnOffsetCommitTopicResponse:
    """Refuse what does not exist, and note down the rest for the group to decide."""
    image = ctx.node.controller.image.topics.get(topic.name)
    if image is None:
        return _refuse_topic(topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    answers = []
    for wanted in topic.partitions:
        answer = TxnOffsetCommitPartitionResponse(partition_index=wanted.partition_index)
        if wanted.partition_index in image.partitions:
            offsets.append(_offset(topic.name, wanted))
            pending.append(answer)
        else:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answers.append(answer)
    return TxnOffsetCommitTopicResponse(name=topic.name, partitions=answers)


def _refuse_topic(topic: TxnOffsetCommitTopic, code: ErrorCode) -> TxnOffsetCommitTopicResponse:
    return TxnOffsetCommitTopicResponse(
        name=topic.name,
        partitions=[
            TxnOffsetCommitPartitionResponse(partition_index=one.partition_index, error_code=code)
            for one in topic.partitions
        ],
    )


def _offset(topic: str, wanted: TxnOffsetCommitPartition) -> OffsetToCommit:
    return OffsetToCommit(
        topic,
        wanted.partition_index,
        wanted.committed_offset,
        wanted.committed_leader_epoch,
        wanted.committed_metadata or "",
    )


def _respond(
    ctx: RequestContext,
    response: TxnOffsetCommitResponse,
    pending: _Pending,
    answer: list[ErrorCode] | KwireError,
) -> TxnOffsetCommitResponse:
    if isinstance(answer, KwireError):
        codes = [_code(ctx, answer)] * len(pending)
    else:
        codes = answer
    for one, code in zip(pending, codes, strict=True):
        one.error_code = code
    return response


def _code(ctx: RequestContext, refusal: KwireError) -> ErrorCode:
    """Producers older than Kafka 2.0 would not wait for a coordinator that is loading."""
    is_loading = refusal.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if is_loading and ctx.version < FIRST_VERSION_WITH_LOAD_IN_PROGRESS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return refusal.code
