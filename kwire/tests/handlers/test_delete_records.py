"""DeleteRecords: the log of a partition begins later, and never past what could be read."""

import pytest

from kwire.codec.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kwire.errors import ErrorCode
from kwire.handlers.delete_records import HIGH_WATERMARK, NO_LOW_WATERMARK
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode

RECORDS = 5


@pytest.fixture(autouse=True)
def _records(node: OpenNode) -> None:
    node.create("orders")
    node.append("orders", a_batch(RECORDS))


def _delete(
    node: OpenNode, offset: int, topic: str = "orders", partition: int = 0
) -> DeleteRecordsPartitionResult:
    wanted = DeleteRecordsPartition(partition_index=partition, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=[wanted])])
    (answered,) = node.ask(request, 2).topics
    assert answered.name == topic
    (result,) = answered.partitions
    assert isinstance(result, DeleteRecordsPartitionResult)
    return result


@pytest.mark.parametrize(
    ("offset", "low_watermark"), [(0, 0), (2, 2), (RECORDS, RECORDS), (HIGH_WATERMARK, RECORDS)]
)
def test_the_log_starts_where_it_was_told_to(
    node: OpenNode, offset: int, low_watermark: int
) -> None:
    assert _delete(node, offset) == DeleteRecordsPartitionResult(low_watermark=low_watermark)
    assert node.node.hosted.find("orders", 0).log.log_start_offset == low_watermark


def test_an_offset_before_the_start_changes_nothing(node: OpenNode) -> None:
    _delete(node, 3)
    assert _delete(node, 1).low_watermark == 3


@pytest.mark.parametrize("offset", [RECORDS + 1, -2])
def test_an_offset_that_is_not_there_is_out_of_range(node: OpenNode, offset: int) -> None:
    assert _delete(node, offset) == DeleteRecordsPartitionResult(
        low_watermark=NO_LOW_WATERMARK, error_code=ErrorCode.OFFSET_OUT_OF_RANGE
    )


def test_an_unknown_partition_is_told(node: OpenNode) -> None:
    assert _delete(node, 0, partition=7) == DeleteRecordsPartitionResult(
        partition_index=7,
        low_watermark=NO_LOW_WATERMARK,
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("compact", ErrorCode.POLICY_VIOLATION),
        ("compact,delete", ErrorCode.NONE),
        ("", ErrorCode.NONE),
    ],
)
def test_only_a_purely_compacted_topic_refuses(
    node: OpenNode, policy: str, code: ErrorCode
) -> None:
    node.create("cleaned", cleanup_policy=policy)
    assert _delete(node, 0, topic="cleaned").error_code == code


def test_internal_topics_refuse(node: OpenNode) -> None:
    node.create("__consumer_offsets")
    code = ErrorCode.INVALID_TOPIC_EXCEPTION
    assert _delete(node, 0, topic="__consumer_offsets").error_code == code
