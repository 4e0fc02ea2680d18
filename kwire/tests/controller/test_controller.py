"""The controller as a whole: what is stored, what others see, and what a restart brings back."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.controller.commands import (
    ConfigChange,
    MorePartitions,
    NewTopic,
    Operation,
    Scope,
    Setting,
)
from kwire.controller.controller import Controller
from kwire.controller.image import EVERY_BROKER, NO_LEADER, ImageChange, TopicImage
from kwire.controller.local_store import LocalStore
from kwire.controller.store import Create, NodeExists, Put, StoredNode, StoreFailed
from kwire.errors import ErrorCode, KwireError
from kwire.tests.controller.clusters import (
    ENDPOINTS,
    NODE_ID,
    DawdlingStore,
    RunningController,
    a_broker,
    a_controller,
    value_of,
)
from kwire.types import new_uuid

RETENTION = Setting(Operation.SET, "retention.ms", "5")
BROKER_RETENTION = Setting(Operation.SET, "log.retention.ms", "7")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningController]:
    opened = RunningController(tmp_path)
    yield opened
    opened.store.close()


@pytest.fixture
def controller(running: RunningController) -> Controller:
    return running.controller


def _create(controller: Controller, *topics: NewTopic) -> list[TopicImage]:
    created = value_of(controller.create_topics(topics))
    return [topic for topic in created if isinstance(topic, TopicImage)]


def _codes(results: list[KwireError | None]) -> list[ErrorCode]:
    return [ErrorCode.NONE if result is None else result.code for result in results]


def _fail_to_sync(_: int) -> None:
    raise OSError(errno.ENOSPC, "no space left")


def test_a_first_start_makes_a_cluster_with_this_broker_and_controller(
    running: RunningController,
) -> None:
    image = running.controller.image
    assert len(image.cluster_id) == 22
    assert image.controller_id == NODE_ID
    assert image.brokers[NODE_ID].endpoints == ENDPOINTS
    registration = value_of(running.store.get(f"/brokers/ids/{NODE_ID}"))
    assert isinstance(registration, StoredNode)
    assert image.brokers[NODE_ID].epoch == registration.stat.czxid
    assert registration.stat.owner == running.store.session_id


def test_a_cluster_may_be_given_its_id_once(tmp_path: Path) -> None:
    for wanted in ("first", "second"):
        store = LocalStore(tmp_path)
        controller = a_controller(store)
        value_of(controller.start(a_broker(), cluster_id=wanted))
        assert controller.image.cluster_id == "first"
        store.close()


def test_a_restart_finds_everything_as_it_was(tmp_path: Path) -> None:
    before = RunningController(tmp_path)
    topics = [NewTopic("a", 3, 1, config={"retention.ms": "9"}), NewTopic("b"), NewTopic("c")]
    _create(before.controller, *topics)
    value_of(before.controller.delete_topics(["c"]))
    value_of(before.controller.create_partitions([MorePartitions("b", 2)]))
    changes = [
        ConfigChange(Scope.TOPIC, "b", [RETENTION]),
        ConfigChange(Scope.BROKER, EVERY_BROKER, [BROKER_RETENTION]),
    ]
    assert value_of(before.controller.alter_configs(changes)) == [None, None]
    before.store.close()
    after = RunningController(tmp_path)
    was, now = before.controller.image, after.controller.image
    assert now.topics == was.topics
    assert list(now.topics) == ["a", "b"]
    assert now.cluster_id == was.cluster_id
    assert now.broker_configs == was.broker_configs
    assert after.controller.layers == before.controller.layers
    assert after.controller.layers.broker.topic_defaults.retention_ms == 7
    after.store.close()


def test_a_restart_raises_the_epochs_of_broker_and_controller_but_not_of_leaders(
    tmp_path: Path,
) -> None:
    def epochs(running: RunningController) -> tuple[int, bytes, int]:
        node = value_of(running.store.get("/controller_epoch"))
        assert isinstance(node, StoredNode)
        image = running.controller.image
        state = image.topics["t"].partitions[0]
        return image.brokers[NODE_ID].epoch, node.data, state.leader_epoch

    first = RunningController(tmp_path)
    _create(first.controller, NewTopic("t"))
    before = epochs(first)
    first.store.close()
    second = RunningController(tmp_path)
    after = epochs(second)
    second.store.close()
    assert before[0] < after[0]
    assert (before[1], after[1]) == (b"1", b"2")
    assert (before[2], after[2]) == (0, 0)


def test_after_a_stop_that_was_not_clean_leaders_begin_a_new_epoch(tmp_path: Path) -> None:
    first = RunningController(tmp_path)
    _create(first.controller, NewTopic("a", 2), NewTopic("b"))
    first.store.close()
    for life in (1, 2):
        store = LocalStore(tmp_path)
        controller = a_controller(store)
        told: list[ImageChange] = []
        controller.subscribe(told.append)
        value_of(controller.start(a_broker(), was_clean=False))
        topics = controller.image.topics
        assert told == [ImageChange(topics=tuple(topics.values()))]
        states = [state for topic in topics.values() for state in topic.partitions.values()]
        assert [(state.leader_epoch, state.partition_epoch) for state in states] == [
            (life, life)
        ] * 3
        store.close()


def test_listeners_learn_of_what_was_there_and_of_every_change_before_the_asker(
    tmp_path: Path,
) -> None:
    first = RunningController(tmp_path)
    (old,) = _create(first.controller, NewTopic("old"))
    first.store.close()
    store = LocalStore(tmp_path)
    controller = a_controller(store)
    told: list[object] = []

    def listen(change: ImageChange) -> None:
        assert all(controller.image.topics[topic.name] is topic for topic in change.topics)
        told.append(change)

    controller.subscribe(listen)
    value_of(controller.start(a_broker()))
    assert told == [ImageChange(topics=(old,))]
    controller.create_topics([NewTopic("new")]).then(told.append)
    new = controller.image.topics["new"]
    assert told[1:] == [ImageChange(topics=(new,)), [new]]
    controller.delete_topics(["old"]).then(told.append)
    assert told[3:] == [ImageChange(deleted=(old,)), [None]]
    store.close()


def test_settings_of_brokers_are_in_force_when_listeners_are_told(
    running: RunningController,
) -> None:
    seen: list[tuple[bool, int]] = []
    controller = running.controller
    controller.subscribe(
        lambda change: seen.append(
            (change.broker_configs_changed, controller.layers.broker.topic_defaults.retention_ms)
        )
    )
    change = ConfigChange(Scope.BROKER, str(NODE_ID), [BROKER_RETENTION])
    assert value_of(controller.alter_configs([change])) == [None]
    assert seen == [(True, 7)]
    assert controller.image.broker_configs == {str(NODE_ID): {"log.retention.ms": "7"}}


def test_items_are_answered_in_order_and_do_not_hinder_each_other(controller: Controller) -> None:
    results = value_of(
        controller.create_topics([NewTopic("a"), NewTopic("b", 0), NewTopic("a"), NewTopic("c")])
    )
    assert [
        result.code if isinstance(result, KwireError) else result.name for result in results
    ] == ["a", ErrorCode.INVALID_PARTITIONS, ErrorCode.TOPIC_ALREADY_EXISTS, "c"]
    assert list(controller.image.topics) == ["a", "c"]
    deleted = value_of(controller.delete_topics(["none", "a"]))
    assert _codes(deleted) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]
    grown = value_of(controller.create_partitions([MorePartitions("c", 1), MorePartitions("c", 4)]))
    assert _codes(grown) == [ErrorCode.INVALID_PARTITIONS, ErrorCode.NONE]
    assert len(controller.image.topics["c"].partitions) == 4


def test_a_request_for_too_many_partitions_creates_nothing(controller: Controller) -> None:
    results = value_of(controller.create_topics([NewTopic("a", 10_000), NewTopic("b", 1)]))
    assert [result.code for result in results if isinstance(result, KwireError)] == [
        ErrorCode.POLICY_VIOLATION,
        ErrorCode.POLICY_VIOLATION,
    ]
    assert controller.image.topics == {}


def test_settings_named_twice_in_one_request_are_both_refused(controller: Controller) -> None:
    _create(controller, NewTopic("t"))
    change = ConfigChange(Scope.TOPIC, "t", [RETENTION])
    results = value_of(controller.alter_configs([change, change]))
    assert _codes(results) == [ErrorCode.INVALID_REQUEST] * 2
    assert {result.message for result in results if result} == {
        "Each resource must appear at most once."
    }


def test_validating_answers_the_same_and_changes_nothing(running: RunningController) -> None:
    controller = running.controller
    _create(controller, NewTopic("t"))
    told: list[ImageChange] = []
    controller.subscribe(told.append)
    before = value_of(running.store.tree("/"))
    created = value_of(
        controller.create_topics([NewTopic("a", 3, 1), NewTopic("t")], validate_only=True)
    )
    assert isinstance(created[0], TopicImage)
    assert len(created[0].partitions) == 3
    assert isinstance(created[1], KwireError)
    grown = controller.create_partitions([MorePartitions("t", 2)], validate_only=True)
    assert value_of(grown) == [None]
    changes = [
        ConfigChange(Scope.TOPIC, "t", [RETENTION]),
        ConfigChange(Scope.BROKER, EVERY_BROKER, [BROKER_RETENTION]),
    ]
    assert value_of(controller.alter_configs(changes, validate_only=True)) == [None, None]
    assert value_of(running.store.tree("/")) == before
    assert controller.image.broker_configs == {}
    assert told == []


def _found(name: str, *, partition_count: int = 1) -> NewTopic:
    assignment = {index: [NODE_ID] for index in range(partition_count)}
    return NewTopic(name, assignment=assignment, topic_id=new_uuid(), leader_epoch=3)


def test_topics_found_on_disk_are_adopted_however_many_they_are(tmp_path: Path) -> None:
    first = RunningController(tmp_path)
    found = [_found("small"), _found("large", partition_count=10_001)]
    assert not first.controller.has_adopted
    value_of(first.controller.adopt_topics(found))
    first.store.close()
    second = RunningController(tmp_path)
    assert second.controller.has_adopted
    for wanted in found:
        topic = second.controller.image.topic_by_id(wanted.topic_id or b"")
        assert topic is not None
        assert topic.name == wanted.name
        assert topic.partitions[0].leader_epoch == 3
    second.store.close()


def test_a_directory_without_topics_is_adopted_too(tmp_path: Path) -> None:
    first = RunningController(tmp_path)
    assert value_of(first.controller.adopt_topics([])) == []
    first.store.close()
    second = RunningController(tmp_path)
    assert second.controller.has_adopted
    second.store.close()


def test_an_adoption_that_did_not_quite_work_is_tried_again(tmp_path: Path) -> None:
    good, bad = _found("good"), _found("not a name")
    first = RunningController(tmp_path)
    adopted = value_of(first.controller.adopt_topics([good, bad]))
    assert [isinstance(topic, TopicImage) for topic in adopted] == [True, False]
    first.store.close()
    second = RunningController(tmp_path)
    assert list(second.controller.image.topics) == ["good"]
    assert not second.controller.has_adopted
    second.store.close()


def test_all_topics_of_a_request_are_stored_at_once(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    counting = DawdlingStore(store)
    controller = a_controller(counting)
    started = controller.start(a_broker())
    counting.answer_all()
    assert started.done
    counting.multi_count = 0
    controller.create_topics([NewTopic(f"t{number}", 10) for number in range(100)])
    controller.create_topics([])
    counting.answer_all()
    assert counting.multi_count == 1
    assert len(controller.image.topics) == 100
    store.close()


def test_operations_wait_for_each_other_when_the_store_takes_its_time(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    slow = DawdlingStore(store)
    controller = a_controller(slow)
    controller.start(a_broker())
    assert controller.image.cluster_id == ""
    slow.answer_all()
    first = controller.create_topics([NewTopic("t")])
    second = controller.create_topics([NewTopic("t")])
    third = controller.delete_topics(["t"])
    assert not first.done
    assert controller.image.topics == {}
    slow.answer_one()
    assert isinstance(value_of(first)[0], TopicImage)
    refused = value_of(second)[0]
    assert isinstance(refused, KwireError)
    assert refused.code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert not third.done
    slow.answer_one()
    assert value_of(third) == [None]
    assert controller.image.topics == {}
    store.close()


def test_a_listener_may_ask_for_more(controller: Controller) -> None:
    def follow(change: ImageChange) -> None:
        if [topic.name for topic in change.topics] == ["first"]:
            controller.create_topics([NewTopic("second")])

    controller.subscribe(follow)
    _create(controller, NewTopic("first"))
    assert list(controller.image.topics) == ["first", "second"]


def test_a_listener_that_fails_does_not_block_the_next_operation(controller: Controller) -> None:
    def fail(change: ImageChange) -> None:
        if change.topics[0].name == "first":
            raise RuntimeError("a defect")

    controller.subscribe(fail)
    with pytest.raises(RuntimeError):
        controller.create_topics([NewTopic("first")])
    assert _create(controller, NewTopic("second"))


def test_what_cannot_be_written_is_refused_and_does_not_happen(
    running: RunningController, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = running.controller
    told: list[ImageChange] = []
    controller.subscribe(told.append)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", _fail_to_sync)
        results = value_of(controller.create_topics([NewTopic("a"), NewTopic("b", 0)]))
    assert [result.code for result in results if isinstance(result, KwireError)] == [
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.INVALID_PARTITIONS,
    ]
    assert controller.image.topics == {}
    assert told == []
    assert _create(controller, NewTopic("a"))


def test_a_controller_that_was_replaced_notices_at_its_next_write(
    running: RunningController,
) -> None:
    controller = running.controller
    value_of(running.store.multi([Put("/controller_epoch", b"2")]))
    for _ in range(2):
        (refused,) = value_of(controller.create_topics([NewTopic("t")]))
        assert isinstance(refused, KwireError)
        assert refused.code == ErrorCode.NOT_CONTROLLER
    assert controller.image.topics == {}
    assert controller.image.controller_id == NO_LEADER
    assert value_of(running.store.exists("/brokers/topics/t")) is None


def test_a_controller_whose_session_is_over_decides_nothing(running: RunningController) -> None:
    running.store.close()
    changes = [ConfigChange(Scope.BROKER, EVERY_BROKER, [BROKER_RETENTION])]
    assert _codes(value_of(running.controller.alter_configs(changes))) == [ErrorCode.NOT_CONTROLLER]
    assert running.controller.image.broker_configs == {}


def test_a_broker_whose_registration_is_taken_does_not_start(tmp_path: Path) -> None:
    running = RunningController(tmp_path)
    second = a_controller(running.store)
    with pytest.raises(NodeExists, match=f"/brokers/ids/{NODE_ID}"):
        second.start(a_broker())
    running.store.close()


def test_a_broker_that_cannot_write_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", _fail_to_sync)
        with pytest.raises(StoreFailed, match="no space left"):
            a_controller(store).start(a_broker())
    store.close()


def test_stored_settings_that_no_longer_apply_do_not_keep_the_broker_from_starting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = RunningController(tmp_path)
    config = b'{"version":1,"config":{"log.retention.ms":"nonsense"}}'
    value_of(first.store.multi([Create("/config/brokers/<default>", config)]))
    first.store.close()
    second = RunningController(tmp_path)
    assert "dynamic settings do not apply" in caplog.text
    assert second.controller.layers.dynamic_default == {}
    second.store.close()


def test_stored_settings_of_a_newer_kwire_are_left_alone(tmp_path: Path) -> None:
    first = RunningController(tmp_path)
    config = b'{"version":1,"config":{"log.retention.ms":"7","key.of.the.future":"1"}}'
    value_of(first.store.multi([Create("/config/brokers/<default>", config)]))
    first.store.close()
    second = RunningController(tmp_path)
    assert second.controller.layers.broker.topic_defaults.retention_ms == 7
    second.store.close()
