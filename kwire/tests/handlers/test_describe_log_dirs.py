"""DescribeLogDirs: what takes room in the log directory."""

import pytest

from kwire.codec.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kwire.errors import ErrorCode
from kwire.log.store import LogStore
from kwire.tests.builders import a_batch
from kwire.tests.handlers.nodes import OpenNode

NEWEST = 5


def _ask(
    node: OpenNode, topics: dict[str, list[int]] | None, version: int = NEWEST
) -> DescribeLogDirsResult:
    request = DescribeLogDirsRequest(topics=None)
    if topics is not None:
        request.topics = [
            DescribableLogDirTopic(topic=topic, partitions=partitions)
            for topic, partitions in topics.items()
        ]
    answer = node.ask(request, version)
    assert isinstance(answer, DescribeLogDirsResponse)
    assert answer.error_code == ErrorCode.NONE
    (result,) = answer.results
    return result


def _sizes(result: DescribeLogDirsResult) -> dict[str, list[tuple[int, int]]]:
    return {
        topic.name: [(part.partition_index, part.partition_size) for part in topic.partitions]
        for topic in result.topics
    }


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_null_asks_for_every_partition(node: OpenNode, version: int) -> None:
    node.create("orders", 2)
    node.create("payments")
    batch = a_batch(3)
    node.append("orders", batch, partition=1)
    result = _ask(node, None, version)
    assert result.log_dir == str(node.node.log_store.directory.absolute())
    assert _sizes(result) == {"orders": [(0, 0), (1, len(batch))], "payments": [(0, 0)]}


def test_only_what_is_named_and_here_is_told(node: OpenNode) -> None:
    node.create("orders", 2)
    assert _sizes(_ask(node, {"orders": [1, 9], "missing": [0]})) == {"orders": [(1, 0)]}


def test_an_empty_list_asks_for_the_directory_alone(node: OpenNode) -> None:
    node.create("orders")
    assert _sizes(_ask(node, {})) == {}


def test_the_room_of_the_directory_is_told_from_version_4_on(node: OpenNode) -> None:
    new, old = _ask(node, {}), _ask(node, {}, version=3)
    assert 0 < new.usable_bytes <= new.total_bytes
    assert (old.usable_bytes, old.total_bytes) == (-1, -1)


def test_a_directory_that_cannot_be_read_is_told_as_a_storage_error(node: OpenNode) -> None:
    directory = node.node.log_store.directory
    aside = directory.with_name("aside")
    directory.rename(aside)
    assert _ask(node, None).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    aside.rename(directory)


def test_a_directory_that_was_taken_offline_is_told_as_a_storage_error(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.create("orders")
    with monkeypatch.context() as failing:
        failing.setattr(LogStore, "fault", "the disk is gone")
        result = _ask(node, None)
    assert (result.error_code, result.topics) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
