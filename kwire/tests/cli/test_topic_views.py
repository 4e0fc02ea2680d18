"""Showing topics: tables that people read, documents that programs read."""

import json

import pytest

from kwire.cli.main import main
from kwire.codec.apis import LIST_OFFSETS, METADATA
from kwire.codec.messages.list_offsets import ListOffsetsRequest
from kwire.codec.messages.metadata import MetadataRequest, MetadataResponse
from kwire.errors import ErrorCode
from kwire.tests.builders import a_batch
from kwire.tests.peers.fake_broker import BreakOff
from kwire.tests.peers.fake_topics import FakeTopics

Captured = pytest.CaptureFixture[str]


def test_topics_are_listed_by_name_without_internal_ones(
    broker: FakeTopics, capsys: Captured
) -> None:
    broker.add("orders", partitions=12)
    broker.add("__consumer_offsets", partitions=50)
    broker.add("clicks")
    assert main(["topic", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "TOPIC   PARTITIONS  REPLICAS",
        "clicks           1         1",
        "orders          12         1",
    ]
    assert main(["topic", "list", "--internal"]) == 0
    assert "__consumer_offsets" in capsys.readouterr().out


def test_a_cluster_without_topics_lists_none(broker: FakeTopics, capsys: Captured) -> None:
    assert main(["topic", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["topic", "list"]) == 0
    assert capsys.readouterr().out == "TOPIC  PARTITIONS  REPLICAS\n"


def test_the_list_is_a_json_document_too(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("orders", partitions=2)
    assert main(["topic", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "topic": "orders",
            "id": "AAAAAAAAAAAAAAAAAAAAAQ",
            "internal": False,
            "partition_count": 2,
            "replication_factor": 1,
        }
    ]


def test_a_topic_is_described_with_offsets_and_what_is_not_default(
    broker: FakeTopics, capsys: Captured
) -> None:
    topic = broker.add("orders", partitions=2, retention_ms="1000", max_message_bytes="9")
    topic.append(1, a_batch(120))
    assert main(["topic", "describe", "orders"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Topic:              orders",
        "Id:                 AAAAAAAAAAAAAAAAAAAAAQ",
        "Partitions:         2",
        "Replication factor: 1",
        "Configs:            max.message.bytes=9",
        "                    retention.ms=1000",
        "",
        "PARTITION  LEADER  EPOCH  REPLICAS  ISR  EARLIEST  LATEST",
        "        0       1      0  1         1           0       0",
        "        1       1      0  1         1           0     120",
    ]


def test_a_description_is_a_json_document_too(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("orders", retention_ms="1000").append(0, a_batch(3))
    assert main(["topic", "describe", "orders", "--format", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document["topic"] == "orders"
    assert document["configs"] == {"retention.ms": "1000"}
    assert document["partitions"] == [
        {
            "partition": 0,
            "leader": 1,
            "leader_epoch": 0,
            "replicas": [1],
            "isr": [1],
            "offline_replicas": [],
            "earliest_offset": 0,
            "latest_offset": 3,
        }
    ]


def test_without_names_all_topics_but_internal_ones_are_described(
    broker: FakeTopics, capsys: Captured
) -> None:
    for name in ("b", "a", "__internal"):
        broker.add(name)
    assert main(["topic", "describe", "--format", "json"]) == 0
    assert [each["topic"] for each in json.loads(capsys.readouterr().out)] == ["a", "b"]


def test_a_missing_topic_fails_and_the_others_are_shown(
    broker: FakeTopics, capsys: Captured
) -> None:
    broker.add("orders")
    assert main(["topic", "describe", "nope", "orders"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("Topic:              orders\n")
    assert told.err == (
        "kwire topic: topic nope: there is no such topic (UNKNOWN_TOPIC_OR_PARTITION)\n"
    )
    assert "nope" not in broker.topics


def test_a_partition_without_a_leader_has_neither_leader_nor_offsets(
    broker: FakeTopics, capsys: Captured
) -> None:
    broker.add("orders")

    def leaderless(request: MetadataRequest) -> MetadataResponse:
        answer = broker.metadata(request)
        partition = answer.topics[0].partitions[0]
        partition.error_code = ErrorCode.LEADER_NOT_AVAILABLE
        partition.leader_id, partition.isr_nodes = -1, []
        return answer

    broker.answers[METADATA] = leaderless
    assert main(["topic", "describe", "orders"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "        0  -           0  1         -    -         -"
    )


def test_a_leader_that_does_not_tell_offsets_does_not_hide_the_rest(
    broker: FakeTopics, capsys: Captured
) -> None:
    broker.add("orders")

    def break_off(_: ListOffsetsRequest) -> None:
        raise BreakOff

    broker.answers[LIST_OFFSETS] = break_off
    assert main(["topic", "describe", "orders"]) == 0
    told = capsys.readouterr()
    assert "no offsets of orders" in told.err
    assert told.out.splitlines()[-1].split() == ["0", "1", "0", "1", "1", "-", "-"]
