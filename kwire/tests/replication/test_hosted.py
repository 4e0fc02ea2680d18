"""Which partitions a broker hosts, as the controller's image changes."""

import os
from dataclasses import replace

import pytest

from kwire.config.broker import BrokerConfig, resolve_broker
from kwire.controller.image import ImageChange
from kwire.errors import (
    KafkaStorageError,
    NotLeaderOrFollower,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from kwire.log.store import LogStore
from kwire.replication.hosted import Hosted
from kwire.tests.replication.images import A_TOPIC_ID, a_state, a_topic


def test_a_new_topic_is_found_by_name_and_by_id(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic("orders", a_state(), a_state()),)))
    partition = hosted.find("orders", 1)
    assert hosted.find_by_id(A_TOPIC_ID, 1) is partition
    assert (partition.topic, partition.index, partition.leader_epoch) == ("orders", 1, 0)
    assert len(list(hosted)) == 2
    assert set(hosted.online("orders")) == {0, 1}


def test_what_is_not_there_is_told_apart(hosted: Hosted) -> None:
    elsewhere = a_state((2,), leader=2)
    moved = a_state((1, 2), leader=2)
    hosted.apply(ImageChange(topics=(a_topic("orders", a_state(), elsewhere, moved),)))
    with pytest.raises(UnknownTopicOrPartition):
        hosted.find("nowhere", 0)
    with pytest.raises(UnknownTopicOrPartition):
        hosted.find("orders", 3)
    for led_elsewhere in (1, 2):
        with pytest.raises(NotLeaderOrFollower):
            hosted.find("orders", led_elsewhere)
    with pytest.raises(UnknownTopicId):
        hosted.find_by_id(b"?" * 16, 0)


def test_the_same_change_twice_changes_nothing(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    partition = hosted.find("orders", 0)
    hosted.apply(ImageChange(topics=(a_topic(),)))
    assert hosted.find("orders", 0) is partition


def test_partitions_may_be_added(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    first = hosted.find("orders", 0)
    hosted.apply(ImageChange(topics=(a_topic("orders", a_state(), a_state()),)))
    assert hosted.find("orders", 0) is first
    assert hosted.find("orders", 1).log.next_offset == 0


def test_a_new_leadership_is_taken_over(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    hosted.apply(ImageChange(topics=(a_topic("orders", a_state(leader_epoch=4)),)))
    assert hosted.find("orders", 0).leader_epoch == 4


def test_settings_of_a_topic_come_into_force(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    hosted.apply(ImageChange(topics=(a_topic(config={"retention.ms": "1234"}),)))
    assert hosted.find("orders", 0).log.config.retention_ms == 1234


def test_settings_of_the_broker_reach_topics_that_do_not_override_them(hosted: Hosted) -> None:
    own = a_topic("own", topic_id=b"B" * 16, config={"retention.ms": "1234"})
    hosted.apply(ImageChange(topics=(a_topic(), own)))
    hosted.reconfigure(resolve_broker({"log.retention.ms": "99"}))
    assert hosted.find("orders", 0).log.config.retention_ms == 99
    assert hosted.find("own", 0).log.config.retention_ms == 1234


def test_a_stored_setting_that_is_unknown_does_not_keep_the_topic_from_being_served(
    hosted: Hosted, caplog: pytest.LogCaptureFixture
) -> None:
    hosted.apply(ImageChange(topics=(replace(a_topic(), config={"no.such.key": "1"}),)))
    assert hosted.find("orders", 0).log.config == BrokerConfig().topic_defaults
    assert "settings do not apply topic=orders" in caplog.text


def test_a_deleted_topic_is_gone_and_its_directory_set_aside(
    hosted: Hosted, log_store: LogStore
) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    hosted.apply(ImageChange(deleted=(a_topic(),)))
    with pytest.raises(UnknownTopicOrPartition):
        hosted.find("orders", 0)
    with pytest.raises(UnknownTopicId):
        hosted.find_by_id(A_TOPIC_ID, 0)
    assert "orders-0" not in os.listdir(log_store.directory)


def test_a_topic_may_be_recreated_in_one_change(hosted: Hosted) -> None:
    hosted.apply(ImageChange(topics=(a_topic(),)))
    old = hosted.find("orders", 0)
    again = replace(a_topic(), topic_id=b"B" * 16)
    hosted.apply(ImageChange(deleted=(a_topic(),), topics=(again,)))
    assert hosted.find_by_id(b"B" * 16, 0) is not old
    with pytest.raises(UnknownTopicId):
        hosted.find_by_id(A_TOPIC_ID, 0)


def test_a_log_that_cannot_be_opened_is_offline_and_the_others_are_not(
    hosted: Hosted, log_store: LogStore, caplog: pytest.LogCaptureFixture
) -> None:
    (log_store.directory / "orders-0").write_text("in the way")
    hosted.apply(ImageChange(topics=(a_topic("orders", a_state(), a_state()),)))
    with pytest.raises(KafkaStorageError):
        hosted.find("orders", 0)
    assert hosted.find("orders", 1).index == 1
    assert "partition offline" in caplog.text


def test_a_deleted_topic_takes_its_offline_partitions_with_it(
    hosted: Hosted, log_store: LogStore
) -> None:
    (log_store.directory / "orders-0").write_text("in the way")
    topic = a_topic("orders", a_state(), a_state())
    hosted.apply(ImageChange(topics=(topic,)))
    hosted.apply(ImageChange(deleted=(topic,)))
    left = [name for name in os.listdir(log_store.directory) if not name.endswith("-delete")]
    assert not any(name.startswith("orders-") for name in left)


def test_nothing_is_hosted_before_the_first_change(log_store: LogStore) -> None:
    assert list(Hosted(1, log_store, BrokerConfig())) == []
