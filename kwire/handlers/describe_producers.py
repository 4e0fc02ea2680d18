"""DescribeProducers: what a partition's leader remembers of those who write to it (KIP-664)."""

from kwire.codec.messages.describe_producers import (
    DescribeProducersPartitionResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeProducersTopicResponse,
    ProducerState,
)
from kwire.errors import ErrorCode, KwireError
from kwire.handlers.context import RequestContext
from kwire.log.producers import Producer

NO_SEQUENCE = -1


def handle(ctx: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            DescribeProducersTopicResponse(
                name=topic.name,
                partitions=[_describe(ctx, topic.name, one) for one in topic.partition_indexes],
            )
            for topic in request.topics
        ]
    )


def refuse(
    ctx: RequestContext, request: DescribeProducersRequest, code: ErrorCode
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            DescribeProducersTopicResponse(
                name=topic.name,
                partitions=[
                    DescribeProducersPartitionResponse(partition_index=index, error_code=code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(ctx: RequestContext, topic: str, index: int) -> DescribeProducersPartitionResponse:
    try:
        producers = ctx.node.hosted.find(topic, index).log.producers
    except KwireError as refusal:
        return DescribeProducersPartitionResponse(
            partition_index=index, error_code=refusal.code, error_message=refusal.message
        )
    return DescribeProducersPartitionResponse(
        partition_index=index,
        active_producers=[_state(producer_id, producer) for producer_id, producer in producers],
    )


def _state(producer_id: int, producer: Producer) -> ProducerState:
    batches = producer.batches
    return ProducerState(
        producer_id=producer_id,
        producer_epoch=producer.epoch,
        last_sequence=batches[-1].last_sequence if batches else NO_SEQUENCE,
        last_timestamp=producer.last_timestamp,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_start_offset=producer.open_since,
    )
