"""OffsetCommit: by name and by id, in every version."""

import pytest

from kwire.codec.internal.offsets import CommittedOffset
from kwire.codec.messages.offset_commit import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitTopic,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.members import GROUP, a_stable_member, find_coordinator
from kwire.tests.handlers.nodes import OpenNode
from kwire.types import TopicPartition

AN_ID = bytes(range(16))
NEWEST = 10


def _topic(
    name: str, *indexes: int, topic_id: bytes = bytes(16), metadata: str | None = None
) -> OffsetCommitTopic:
    partitions = [
        OffsetCommitPartition(
            partition_index=index,
            committed_offset=40 + index,
            committed_leader_epoch=3,
            committed_metadata=metadata,
        )
        for index in indexes
    ]
    return OffsetCommitTopic(name=name, topic_id=topic_id, partitions=partitions)


def _request(*topics: OffsetCommitTopic, **fields: object) -> OffsetCommitRequest:
    return OffsetCommitRequest(group_id=GROUP, topics=list(topics), **fields)  # type: ignore[arg-type]  # fields of the request


def _codes(answer: object) -> list[list[int]]:
    return [[one.error_code for one in topic.partitions] for topic in answer.topics]  # type: ignore[attr-defined]  # an answer


def _stored(node: OpenNode, index: int = 0) -> CommittedOffset | None:
    return node.node.groups.reading(GROUP).offsets.get(GROUP, TopicPartition("orders", index))


@pytest.mark.parametrize("version", range(2, NEWEST + 1))
def test_offsets_are_stored(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    made = node.create("orders", 2)
    answer = node.ask(_request(_topic("orders", 0, 1, topic_id=made.topic_id)), version)
    assert _codes(answer) == [[ErrorCode.NONE, ErrorCode.NONE]]
    assert answer.topics[0].name == ("orders" if version < NEWEST else "")
    now_ms = node.clock.now_ms()
    epoch = 3 if version >= 6 else -1
    assert _stored(node, 1) == CommittedOffset(41, epoch, "", now_ms)


def test_what_does_not_exist_is_refused_and_the_rest_is_stored(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders", 1)
    answer = node.ask(_request(_topic("orders", 0, 5), _topic("nowhere", 0)), 9)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _codes(answer) == [[ErrorCode.NONE, unknown], [unknown]]
    assert _stored(node) is not None


def test_without_any_known_partition_the_group_is_not_asked(node: OpenNode) -> None:
    answer = node.ask(_request(_topic("nowhere", 0)), 9)
    assert _codes(answer) == [[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]]


def test_an_id_that_nobody_has_is_refused(node: OpenNode) -> None:
    answer = node.ask(_request(_topic("", 0, topic_id=AN_ID)), NEWEST)
    assert _codes(answer) == [[ErrorCode.UNKNOWN_TOPIC_ID]]
    assert answer.topics[0].topic_id == AN_ID


def test_a_note_is_stored_if_it_is_short_enough(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders", 2)
    topics = [_topic("orders", 0, metadata="x" * 4096), _topic("orders", 1, metadata="x" * 4097)]
    answer = node.ask(_request(*topics), 9)
    assert _codes(answer) == [[ErrorCode.NONE], [ErrorCode.OFFSET_METADATA_TOO_LARGE]]
    stored = _stored(node)
    assert stored is not None
    assert len(stored.metadata) == 4096


@pytest.mark.parametrize("version", range(2, 5))
def test_old_clients_choose_how_long_an_offset_is_kept(node: OpenNode, version: int) -> None:
    find_coordinator(node)
    node.create("orders")
    node.ask(_request(_topic("orders", 0), retention_time_ms=5000), version)
    stored = _stored(node)
    assert stored is not None
    assert stored.expire_timestamp == node.clock.now_ms() + 5000


@pytest.mark.parametrize(
    ("generation", "version", "code"),
    [
        (0, 7, ErrorCode.ILLEGAL_GENERATION),
        (1, 7, ErrorCode.NONE),
        (-1, 7, ErrorCode.ILLEGAL_GENERATION),
        (1, 9, ErrorCode.NONE),
    ],
)
def test_a_member_commits_for_its_generation(
    node: OpenNode, generation: int, version: int, code: ErrorCode
) -> None:
    member = a_stable_member(node)
    node.create("orders")
    request = _request(
        _topic("orders", 0),
        member_id=member.member_id,
        generation_id_or_member_epoch=generation,
    )
    assert _codes(node.ask(request, version)) == [[code]]


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_generation_of_a_group_that_is_not_there_is_refused(
    node: OpenNode, version: int, code: ErrorCode
) -> None:
    find_coordinator(node)
    node.create("orders")
    request = _request(_topic("orders", 0), member_id="x", generation_id_or_member_epoch=1)
    assert _codes(node.ask(request, version)) == [[code]]


def test_the_group_without_a_name_may_commit(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders")
    request = OffsetCommitRequest(group_id="", topics=[_topic("orders", 0)])
    assert _codes(node.ask(request, 7)) == [[ErrorCode.NONE]]


def test_without_a_coordinator_every_partition_says_so(node: OpenNode) -> None:
    node.create("orders", 2)
    answer = node.ask(_request(_topic("orders", 0, 1)), 7)
    assert _codes(answer) == [[ErrorCode.NOT_COORDINATOR] * 2]


def test_what_was_committed_goes_with_its_topic(node: OpenNode) -> None:
    find_coordinator(node)
    node.create("orders")
    node.ask(_request(_topic("orders", 0)), 7)
    node.node.controller.delete_topics(["orders"])
    assert _stored(node) is None
    node.create("orders")
    assert _stored(node) is None
