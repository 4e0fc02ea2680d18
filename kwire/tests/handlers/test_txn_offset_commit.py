"""TxnOffsetCommit: offsets within transactions that their coordinator knows of."""

import pytest

from kwire.codec.messages.find_coordinator import FindCoordinatorRequest
from kwire.errors import CoordinatorLoadInProgress, ErrorCode
from kwire.tasks import now
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer

OLD = range(5)
NEW = 5


@pytest.fixture
def producer(node: OpenNode) -> Producer:
    node.create("orders")
    node.ask(FindCoordinatorRequest(key="g"), 3)
    node.scheduler.end_turn()
    started = Producer(node)
    started.init()
    return started


@pytest.mark.parametrize("version", OLD)
def test_older_clients_must_have_added_the_group(producer: Producer, version: int) -> None:
    knows_abortable = version >= 4
    refused = ErrorCode.TRANSACTION_ABORTABLE if knows_abortable else ErrorCode.INVALID_TXN_STATE
    assert producer.commit_offset("g", 5, version=version) == refused
    producer.add_offsets("g")
    assert producer.commit_offset("g", 5, version=version) == ErrorCode.NONE


def test_the_newest_version_adds_the_group_itself(node: OpenNode, producer: Producer) -> None:
    assert producer.commit_offset("g", 5, version=NEW) == ErrorCode.NONE
    known = node.node.transactions.reading("tx").transactions["tx"]
    assert known.partitions == {node.node.groups.partition_of("g")}


@pytest.mark.parametrize("version", [*OLD, NEW])
def test_a_fenced_producer_commits_nothing(
    node: OpenNode, producer: Producer, version: int
) -> None:
    Producer(node).init()
    refused = ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.commit_offset("g", 5, version=version) == refused


@pytest.mark.parametrize(
    ("group", "topic", "member", "code"),
    [
        ("g", "nowhere", {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("", "orders", {}, ErrorCode.INVALID_GROUP_ID),
        ("g", "orders", {"generation_id": 4, "member_id": "m"}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_what_cannot_be_committed_is_refused(
    producer: Producer, group: str, topic: str, member: dict[str, object], code: ErrorCode
) -> None:
    assert producer.commit_offset(group, 5, topic=topic, version=NEW, **member) == code


def test_notes_that_are_too_long_are_refused_one_by_one(
    node: OpenNode, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = now([ErrorCode.OFFSET_METADATA_TOO_LARGE])
    monkeypatch.setattr(node.node.groups, "commit_in_transaction", lambda command: told)
    assert producer.commit_offset("g", 5) == ErrorCode.OFFSET_METADATA_TOO_LARGE


@pytest.mark.parametrize("version", [*OLD, NEW])
def test_the_oldest_clients_wait_for_a_coordinator_by_another_name(
    node: OpenNode, producer: Producer, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    producer.add_offsets("g")
    loading = now(CoordinatorLoadInProgress())
    monkeypatch.setattr(node.node.groups, "commit_in_transaction", lambda command: loading)
    expected = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if version < 2:
        expected = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert producer.commit_offset("g", 5, version=version) == expected
