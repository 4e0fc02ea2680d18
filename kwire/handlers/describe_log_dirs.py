"""DescribeLogDirs: how much each partition takes, and how much room the directory has left."""

from collections.abc import Iterable

from kwire.codec.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kwire.errors import ErrorCode
from kwire.handlers.context import RequestContext
from kwire.log.directory import measure_room
from kwire.log.partition_log import PartitionLog
from kwire.types import TopicPartition

_LONG_MAX = 2**63 - 1


def handle(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    store = ctx.node.log_store
    result = DescribeLogDirsResult(log_dir=str(store.directory.absolute()))
    try:
        room = measure_room(result.log_dir)
    except OSError:
        room = None
    if room is None or store.fault is not None:
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    else:
        result.topics = _topics(store, request.topics)
        result.total_bytes = min(room.total_bytes, _LONG_MAX)
        result.usable_bytes = min(room.usable_bytes, _LONG_MAX)
    return DescribeLogDirsResponse(results=[result])


def refuse(
    ctx: RequestContext, request: DescribeLogDirsRequest, code: ErrorCode
) -> DescribeLogDirsResponse:
    return DescribeLogDirsResponse(error_code=code)


def _topics(
    logs: Iterable[PartitionLog], asked: list[DescribableLogDirTopic] | None
) -> list[DescribeLogDirsTopic]:
    """The partitions asked for, or all of them; what is not here is left out, as in Kafka."""
    wanted = None if asked is None else _wanted(asked)
    topics: dict[str, DescribeLogDirsTopic] = {}
    for log in sorted(logs, key=lambda log: log.topic_partition):
        topic, index = log.topic_partition
        if wanted is not None and log.topic_partition not in wanted:
            continue
        entry = topics.setdefault(topic, DescribeLogDirsTopic(name=topic))
        # A leader lags behind nobody, and no replica moves between directories.
        entry.partitions.append(
            DescribeLogDirsPartition(partition_index=index, partition_size=log.size_bytes)
        )
    return list(topics.values())


def _wanted(asked: list[DescribableLogDirTopic]) -> set[TopicPartition]:
    return {TopicPartition(entry.topic, index) for entry in asked for index in entry.partitions}
