"""Metadata: which topics are told of, what is told of each, and what comes to be by asking."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.codec.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataTopic,
)
from kwire.controller.image import NO_LEADER, ImageChange, PartitionState, TopicImage
from kwire.errors import ErrorCode, KwireError, PolicyViolation
from kwire.handlers.selection import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from kwire.log.store import LogStore
from kwire.tasks import Later
from kwire.tests.handlers.nodes import NODE_ID, OpenNode
from kwire.types import ZERO_UUID

AN_ID = bytes(range(16))
NEWEST = 13


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[OpenNode]:
    """A node that creates no topic unasked."""
    opened = OpenNode(tmp_path / "strict", {"auto.create.topics.enable": "false"})
    yield opened
    opened.close()


def _named(*names: str, auto: bool = False) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=auto)


def _by_id(*ids: bytes) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=None, topic_id=topic_id) for topic_id in ids]
    )


def _names(answer: MetadataResponse) -> list[str | None]:
    return [topic.name for topic in answer.topics]


def _codes(answer: MetadataResponse) -> dict[str | None, ErrorCode]:
    return {topic.name: ErrorCode(topic.error_code) for topic in answer.topics}


def test_an_empty_list_asks_for_all_topics_in_version_0(node: OpenNode) -> None:
    node.create("first")
    node.create("second")
    assert _names(node.ask(MetadataRequest(topics=[]), 0)) == ["first", "second"]


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_null_asks_for_all_topics_and_an_empty_list_for_none(node: OpenNode, version: int) -> None:
    node.create("only")
    assert _names(node.ask(MetadataRequest(topics=None), version)) == ["only"]
    assert _names(node.ask(MetadataRequest(topics=[]), version)) == []


def test_an_answer_tells_of_brokers_controller_and_cluster(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"broker.rack": "cellar"})
    answer = node.ask(MetadataRequest(topics=[]), NEWEST)
    assert answer.brokers == [
        MetadataBroker(node_id=NODE_ID, host="localhost", port=9092, rack="cellar")
    ]
    assert answer.controller_id == NODE_ID
    assert answer.cluster_id == node.node.controller.image.cluster_id
    node.close()


def test_a_client_is_told_the_endpoint_of_the_listener_it_came_through(node: OpenNode) -> None:
    answer = node.ask(MetadataRequest(topics=[]), NEWEST, listener_name="INSIDE")
    (broker,) = answer.brokers
    assert (broker.host, broker.port) == ("broker.local", 9093)


def test_a_topic_is_told_with_its_id_partitions_and_epochs(node: OpenNode) -> None:
    made = node.create("orders", 2)
    (topic,) = node.ask(_named("orders"), NEWEST).topics
    assert topic == MetadataTopic(
        name="orders",
        topic_id=made.topic_id,
        partitions=[
            MetadataPartition(
                partition_index=index,
                leader_id=NODE_ID,
                leader_epoch=0,
                replica_nodes=[NODE_ID],
                isr_nodes=[NODE_ID],
            )
            for index in (0, 1)
        ],
    )


def test_a_topic_named_twice_is_told_once(node: OpenNode) -> None:
    node.create("orders")
    assert _names(node.ask(_named("orders", "orders"), NEWEST)) == ["orders"]


def test_topics_can_be_asked_for_by_id(node: OpenNode) -> None:
    made = node.create("orders")
    known, unknown = node.ask(_by_id(made.topic_id, AN_ID), 12).topics
    assert (known.name, known.topic_id) == ("orders", made.topic_id)
    assert (unknown.name, unknown.topic_id) == (None, AN_ID)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_an_id_counts_more_than_the_name_beside_it(node: OpenNode) -> None:
    made = node.create("orders")
    asked = MetadataRequestTopic(name="other", topic_id=made.topic_id)
    assert _names(node.ask(MetadataRequest(topics=[asked]), 12)) == ["orders"]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_refused_before_version_12(node: OpenNode, version: int) -> None:
    made = node.create("orders")
    (topic,) = node.ask(_by_id(made.topic_id), version).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST
    assert (topic.name, topic.topic_id) == ("", made.topic_id)


def test_a_request_for_nothing_by_name_or_id_is_refused_as_a_whole(node: OpenNode) -> None:
    answer = node.ask(_by_id(ZERO_UUID), NEWEST)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST]


def test_a_missing_topic_is_unknown_unless_the_client_lets_it_be_created(node: OpenNode) -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _codes(node.ask(_named("missing"), NEWEST)) == {"missing": code}
    assert "missing" not in node.node.controller.image.topics


def test_asking_creates_a_missing_topic_and_tells_of_it_at_once(node: OpenNode) -> None:
    (topic,) = node.ask(_named("missing", auto=True), NEWEST).topics
    assert topic.error_code == ErrorCode.NONE
    assert topic.topic_id == node.node.controller.image.topics["missing"].topic_id
    assert [partition.leader_id for partition in topic.partitions] == [NODE_ID]
    assert node.node.hosted.find("missing", 0).log.next_offset == 0


def test_clients_before_version_4_always_let_topics_be_created(node: OpenNode) -> None:
    assert _codes(node.ask(_named("missing"), 3)) == {"missing": ErrorCode.NONE}


def test_created_topics_have_the_brokers_number_of_partitions(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"num.partitions": "4"})
    (topic,) = node.ask(_named("missing", auto=True), NEWEST).topics
    assert [partition.partition_index for partition in topic.partitions] == [0, 1, 2, 3]
    node.close()


def test_nothing_is_created_on_a_broker_that_does_not_allow_it(strict: OpenNode) -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert _codes(strict.ask(_named("missing", auto=True), NEWEST)) == {"missing": code}


@pytest.mark.parametrize("auto", [True, False])
def test_names_that_cannot_be_are_told_one_by_one(node: OpenNode, auto: bool) -> None:
    node.create("good")
    invalid = ErrorCode.INVALID_TOPIC_EXCEPTION
    answer = node.ask(_named("a/b", "good", "..", "x" * 250, "", auto=auto), NEWEST)
    assert _codes(answer) == {
        "a/b": invalid,
        "good": ErrorCode.NONE,
        "..": invalid,
        "x" * 250: invalid,
        "": invalid,
    }


def test_a_name_that_collides_with_another_topic_is_not_created(node: OpenNode) -> None:
    node.create("a.b")
    code = ErrorCode.INVALID_TOPIC_EXCEPTION
    assert _codes(node.ask(_named("a_b", auto=True), NEWEST)) == {"a_b": code}


def test_internal_topics_are_not_created_by_asking(node: OpenNode) -> None:
    (topic,) = node.ask(_named("__consumer_offsets", auto=True), NEWEST).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert topic.is_internal


def test_operations_are_told_only_to_who_asks(node: OpenNode) -> None:
    node.create("orders")
    asked = _named("orders", "missing")
    quiet = node.ask(asked, 10)
    assert quiet.cluster_authorized_operations == NOT_ASKED
    assert {topic.topic_authorized_operations for topic in quiet.topics} == {NOT_ASKED}
    asked.include_cluster_authorized_operations = True
    asked.include_topic_authorized_operations = True
    told = node.ask(asked, 10)
    assert told.cluster_authorized_operations == CLUSTER_OPERATIONS
    assert {topic.topic_authorized_operations for topic in told.topics} == {TOPIC_OPERATIONS}


def test_a_partition_whose_log_cannot_be_opened_has_no_leader(tmp_path: Path) -> None:
    # Where the directory of the partition would be, there is a file.
    node = OpenNode(tmp_path)
    (tmp_path / "broken-0").write_text("in the way")
    node.create("broken", 2)
    (topic,) = node.ask(_named("broken"), NEWEST).topics
    broken, sound = topic.partitions
    assert broken.error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert (broken.leader_id, broken.offline_replicas) == (NO_LEADER, [NODE_ID])
    assert (broken.replica_nodes, broken.isr_nodes) == ([NODE_ID], [NODE_ID])
    assert (sound.leader_id, sound.offline_replicas) == (NODE_ID, [])
    node.close()


def test_a_partition_in_a_directory_gone_offline_has_no_leader(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.create("orders")
    with monkeypatch.context() as failing:
        failing.setattr(LogStore, "fault", "the disk is gone")
        (partition,) = node.ask(_named("orders"), NEWEST).topics[0].partitions
    assert partition.error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert (partition.leader_id, partition.offline_replicas) == (NO_LEADER, [NODE_ID])


def test_the_answer_waits_for_a_slow_controller(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Later[list[TopicImage | KwireError]] = Later()
    controller = node.node.controller
    monkeypatch.setattr(controller, "create_topics", lambda topics: made)
    answer = node.begin(_named("slow", "bad", auto=True), NEWEST)
    assert not answer.done
    slow = TopicImage("slow", AN_ID, {0: PartitionState((NODE_ID,), (NODE_ID,), NODE_ID)})
    controller.image.apply(ImageChange(topics=(slow,)))
    made.complete([slow, PolicyViolation()])
    assert answer.value is not None
    codes = {"slow": ErrorCode.NONE, "bad": ErrorCode.POLICY_VIOLATION}
    assert _codes(answer.value) == codes


class TestReplicasElsewhere:
    """A partition that has replicas on a broker this one does not know."""

    AWAY = 7

    @pytest.fixture(autouse=True)
    def _a_topic_with_a_replica_elsewhere(self, node: OpenNode) -> None:
        ours = PartitionState((NODE_ID, self.AWAY), (NODE_ID,), NODE_ID, 3)
        theirs = PartitionState((self.AWAY,), (self.AWAY,), self.AWAY, 5)
        topic = TopicImage("far", AN_ID, {0: ours, 1: theirs})
        node.node.hosted.apply(ImageChange(topics=(topic,)))
        node.node.controller.image.apply(ImageChange(topics=(topic,)))

    def test_is_told_with_the_absent_replica_offline(self, node: OpenNode) -> None:
        ours, theirs = node.ask(_named("far"), NEWEST).topics[0].partitions
        assert (ours.error_code, ours.leader_id, ours.leader_epoch) == (0, NODE_ID, 3)
        assert (ours.replica_nodes, ours.offline_replicas) == ([NODE_ID, self.AWAY], [self.AWAY])
        assert theirs.error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert (theirs.leader_id, theirs.leader_epoch) == (NO_LEADER, 5)

    def test_leaves_the_absent_replica_out_in_version_0(self, node: OpenNode) -> None:
        ours, theirs = node.ask(_named("far"), 0).topics[0].partitions
        assert ours.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
        assert (ours.replica_nodes, ours.isr_nodes) == ([NODE_ID], [NODE_ID])
        assert theirs.error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert theirs.replica_nodes == []

    def test_has_no_listener_for_clients_of_a_listener_that_the_leader_has_not(
        self, node: OpenNode
    ) -> None:
        new = node.ask(_named("far"), 6, listener_name="OTHER").topics[0].partitions[0]
        old = node.ask(_named("far"), 5, listener_name="OTHER").topics[0].partitions[0]
        assert new.error_code == ErrorCode.LISTENER_NOT_FOUND
        assert old.error_code == ErrorCode.LEADER_NOT_AVAILABLE
