"""The door to the groups: what the broker's settings mean for them."""

from pathlib import Path

import pytest

from kwire.codec.records.batch import each_batch
from kwire.errors import ErrorCode
from kwire.groups.service import OFFSETS_TOPIC
from kwire.log.partition_log import PartitionLog
from kwire.tests.handlers.members import Member, find_coordinator, join_request
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.log.logs import read_bytes


@pytest.mark.parametrize(("asked_ms", "is_taken"), [(99, False), (100, True), (201, False)])
def test_members_may_ask_for_session_timeouts_within_the_settings(
    tmp_path: Path, asked_ms: int, is_taken: bool
) -> None:
    limits = {"group.min.session.timeout.ms": "100", "group.max.session.timeout.ms": "200"}
    node = OpenNode(tmp_path, limits)
    find_coordinator(node)
    answered = node.begin(join_request(session_timeout_ms=asked_ms), 3)
    node.scheduler.pass_time(0)
    node.close()
    assert answered.value is not None
    expected = ErrorCode.NONE if is_taken else ErrorCode.INVALID_SESSION_TIMEOUT
    assert answered.value.error_code == expected


def test_the_topic_of_the_groups_gets_the_segments_of_the_settings(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"offsets.topic.segment.bytes": "2000000"})
    find_coordinator(node)
    config = node.node.hosted.find(OFFSETS_TOPIC, 0).log.config
    node.close()
    assert config.segment_bytes == 2_000_000


def test_coordinators_compress_what_they_write_as_the_settings_say(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"offsets.topic.compression.codec": "1"})
    _found_group(node)
    codecs = {
        header.codec
        for partition in node.node.hosted
        for _, header in each_batch(memoryview(read_bytes(partition.log)))
    }
    node.close()
    assert codecs == {1}


def test_a_start_reads_the_groups_in_pieces_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = OpenNode(tmp_path)
    _found_group(node)
    node.close()
    sizes = []
    read = PartitionLog.read

    def note(log: PartitionLog, offset: int, max_bytes: int, *, end_offset: int) -> object:
        sizes.append(max_bytes)
        return read(log, offset, max_bytes, end_offset=end_offset)

    monkeypatch.setattr(PartitionLog, "read", note)
    OpenNode(tmp_path, {"offsets.load.buffer.size": "1234"}).close()
    assert set(sizes) == {1234}


def _found_group(node: OpenNode) -> None:
    find_coordinator(node)
    Member(node).join(3)
    node.scheduler.pass_time(0)
