"""WriteTxnMarkers: end transactions in the partitions that this broker leads.

Other coordinators ask for it, and administrators who abort a transaction that hangs.
"""

from kwire.codec.messages.write_txn_markers import (
    TxnMarker,
    TxnMarkerPartitionResult,
    TxnMarkerResult,
    TxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kwire.coordinator.decision import TransactionEnd
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.tasks import Later, all_of
from kwire.types import TopicPartition


def handle(ctx: RequestContext, request: WriteTxnMarkersRequest) -> Later[WriteTxnMarkersResponse]:
    written = all_of([_write(ctx, marker) for marker in request.markers])
    return written.map(lambda results: WriteTxnMarkersResponse(markers=results))


def refuse(
    ctx: RequestContext, request: WriteTxnMarkersRequest, code: ErrorCode
) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            _result(marker, [code for topic in marker.topics for _ in topic.partition_indexes])
            for marker in request.markers
        ]
    )


def _write(ctx: RequestContext, marker: TxnMarker) -> Later[TxnMarkerResult]:
    end = TransactionEnd(
        marker.producer_id,
        marker.producer_epoch,
        marker.coordinator_epoch,
        is_commit=marker.transaction_result,
    )
    written = [
        ctx.node.transactions.write_marker(
            end, TopicPartition(topic.name, index), marker.transaction_version
        )
        for topic in marker.topics
        for index in topic.partition_indexes
    ]
    return all_of(written).map(lambda refusals: _result(marker, list(map(_code, refusals))))


def _code(refusal: KwireError | None) -> ErrorCode:
    return ErrorCode.NONE if refusal is None else refusal.code


def _result(marker: TxnMarker, codes: list[ErrorCode]) -> TxnMarkerResult:
    remaining = iter(codes)
    return TxnMarkerResult(
        producer_id=marker.producer_id,
        topics=[
            TxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    TxnMarkerPartitionResult(partition_index=index, error_code=next(remaining))
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )
