"""Creating, altering and deleting topics."""

import json

import pytest

from kwire.cli.main import main
from kwire.codec.apis import CREATE_TOPICS, DELETE_TOPICS
from kwire.tests.peers.fake_topics import FakeTopics

Captured = pytest.CaptureFixture[str]


def test_topics_are_created_as_asked(broker: FakeTopics, capsys: Captured) -> None:
    words = "topic create a b -p 3 -r 2 --config retention.ms=5 -c cleanup.policy=compact"
    assert main(words.split()) == 0
    assert capsys.readouterr().out == "created a\ncreated b\n"
    assert broker.topics["b"].partitions == 3
    assert broker.topics["b"].configs == {"retention.ms": "5", "cleanup.policy": "compact"}
    (request,) = broker.asked_for(CREATE_TOPICS)
    assert request.topics[0].replication_factor == 2


def test_without_numbers_the_broker_decides(broker: FakeTopics) -> None:
    assert main(["topic", "create", "a"]) == 0
    (request,) = broker.asked_for(CREATE_TOPICS)
    assert (request.topics[0].num_partitions, request.topics[0].replication_factor) == (-1, -1)


def test_a_topic_that_is_there_already_is_an_error_and_the_others_are_made(
    broker: FakeTopics, capsys: Captured
) -> None:
    broker.add("a")
    assert main(["topic", "create", "a", "b"]) == 1
    told = capsys.readouterr()
    assert told.out == "created b\n"
    assert told.err == ("kwire topic: topic a: Topic 'a' already exists (TOPIC_ALREADY_EXISTS)\n")


def test_a_topic_that_is_there_already_may_be_fine(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a")
    assert main(["topic", "create", "a", "b", "--if-not-exists"]) == 0
    assert capsys.readouterr().out == "exists a\ncreated b\n"


def test_results_come_as_one_json_document(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a")
    assert main(["topic", "create", "a", "b", "--format", "json"]) == 1
    failed, created = json.loads(capsys.readouterr().out)
    assert created == {"topic": "b", "result": "created", "error": None}
    assert failed["result"] == "failed"
    assert "TOPIC_ALREADY_EXISTS" in failed["error"]


def test_topics_are_deleted(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a")
    broker.add("b")
    assert main(["topic", "delete", "a"]) == 0
    assert capsys.readouterr().out == "deleted a\n"
    assert list(broker.topics) == ["b"]


def test_older_brokers_are_told_plain_names(broker: FakeTopics) -> None:
    broker.newest[DELETE_TOPICS] = 5
    main(["topic", "delete", "a"])
    (request,) = broker.asked_for(DELETE_TOPICS)
    assert request.topic_names == ["a"]


def test_deleting_what_is_not_there_fails_unless_that_is_fine(
    broker: FakeTopics, capsys: Captured
) -> None:
    assert main(["topic", "delete", "a"]) == 1
    assert "topic a: there is no such topic" in capsys.readouterr().err
    assert main(["topic", "delete", "a", "--if-exists"]) == 0
    assert capsys.readouterr().out == "missing a\n"


def test_settings_are_set_and_taken_back(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a", retention_ms="5", cleanup_policy="compact")
    words = "topic alter a --config retention.bytes=7 --delete-config retention.ms"
    assert main(words.split()) == 0
    assert capsys.readouterr().out == "altered a\n"
    assert broker.topics["a"].configs == {"cleanup.policy": "compact", "retention.bytes": "7"}


def test_partitions_are_added_up_to_the_new_total(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a", partitions=2)
    assert main(["topic", "alter", "a", "-p", "5", "--config", "x=1"]) == 0
    assert capsys.readouterr().out == "altered a\n"
    assert broker.topics["a"].partitions == 5
    assert broker.topics["a"].configs == {"x": "1"}


def test_partitions_cannot_become_fewer(broker: FakeTopics, capsys: Captured) -> None:
    broker.add("a", partitions=2)
    assert main(["topic", "alter", "a", "-p", "2"]) == 1
    assert "topic a: The topic already has 2 partitions" in capsys.readouterr().err


def test_altering_nothing_is_wrong_usage(broker: FakeTopics, capsys: Captured) -> None:
    assert main(["topic", "alter", "a"]) == 2
    assert "nothing to alter" in capsys.readouterr().err
    assert broker.asked == []
