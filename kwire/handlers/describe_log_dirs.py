"""DescribeLogDirs: how much each partition takes, and how much room the directory has left."""

import os
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
from kwire.log.partition_log import PartitionLog
from kwire.types import TopicPartition

_LONG_MAX = 2**63 - 1


def handle(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    directory = ctx.node.log_store.directory.absolute()
    try:
        space = os.statvfs(directory)
    except OSError:
        code = ErrorCode.KAFKA_STORAGE_ERROR
        return DescribeLogDirsResponse(
            results=[DescribeLogDirsResult(error_code=code, log_dir=str(directory))]
        )
    result = DescribeLogDirsResult(
        log_dir=str(directory),
        topics=_topics(ctx.node.log_store, request.topics),
        total_bytes=min(space.f_blocks * space.f_frsize, _LONG_MAX),
        usable_bytes=min(space.f_bavail * space.f_frsize, _LONG_MAX),
    )
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
