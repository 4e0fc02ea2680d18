"""Settings of topics and brokers: what each operation does, and what is refused in which words."""

from collections.abc import Mapping, Sequence

import pytest

from kwire.config.layered import load
from kwire.controller.commands import ConfigChange, NewTopic, Operation, Scope, Setting
from kwire.controller.draft import Draft
from kwire.controller.image import EVERY_BROKER, ClusterImage
from kwire.controller.settings import alter_config, repeated
from kwire.controller.store import Create, Put
from kwire.controller.topics import create_topic
from kwire.errors import ErrorCode, KwireError
from kwire.tests.controller.clusters import a_broker

SET, DELETE = Operation.SET, Operation.DELETE
APPEND, SUBTRACT = Operation.APPEND, Operation.SUBTRACT


def a_draft(
    topic_config: Mapping[str, str | None] | None = None,
    broker_configs: Mapping[str, Mapping[str, str]] | None = None,
) -> Draft:
    """A draft over a cluster with one topic, `t`."""
    image = ClusterImage("cluster")
    image.brokers = {1: a_broker(1)}
    image.broker_configs.update(broker_configs or {})
    layers = load().with_dynamic(
        default=image.broker_configs.get(EVERY_BROKER, {}), broker=image.broker_configs.get("1", {})
    )
    made = Draft(image, layers, 1)
    create_topic(made, NewTopic("t", 1, 1, config=topic_config or {}))
    image.apply(made.change())
    return Draft(image, layers, 1)


def _alter(
    draft: Draft,
    *settings: tuple[Operation, str, str | None],
    scope: Scope = Scope.TOPIC,
    name: str = "t",
    replaces_all: bool = False,
) -> None:
    chosen: Sequence[Setting] = [Setting(*setting) for setting in settings]
    alter_config(draft, ConfigChange(scope, name, chosen, replaces_all), node_id=1)


def _config(draft: Draft) -> Mapping[str, str]:
    topic = draft.topic("t")
    assert topic is not None
    return topic.config


def _refusal(
    draft: Draft,
    *settings: tuple[Operation, str, str | None],
    scope: Scope = Scope.TOPIC,
    name: str = "t",
) -> tuple[ErrorCode, str]:
    with pytest.raises(KwireError) as refused:
        _alter(draft, *settings, scope=scope, name=name)
    assert draft.ops == []
    return refused.value.code, refused.value.message


def test_setting_and_deleting_leave_other_settings_alone() -> None:
    draft = a_draft({"retention.ms": "1", "segment.ms": "2", "flush.ms": "3"})
    _alter(draft, (SET, "retention.ms", "9"), (DELETE, "segment.ms", None))
    assert _config(draft) == {"retention.ms": "9", "flush.ms": "3"}
    assert [type(op) for op in draft.ops] == [Put]


def test_replacing_all_puts_what_is_not_named_back_to_its_default() -> None:
    draft = a_draft({"retention.ms": "1", "segment.ms": "2"})
    _alter(draft, (SET, "flush.ms", "3"), replaces_all=True)
    assert _config(draft) == {"flush.ms": "3"}


def test_items_are_added_to_a_list_and_taken_from_it() -> None:
    draft = a_draft()
    _alter(draft, (APPEND, "cleanup.policy", "compact,delete"))
    assert _config(draft) == {"cleanup.policy": "delete,compact"}
    _alter(draft, (SUBTRACT, "cleanup.policy", "delete,none"))
    assert _config(draft) == {"cleanup.policy": "compact"}
    _alter(draft, (SUBTRACT, "cleanup.policy", "compact"))
    assert _config(draft) == {"cleanup.policy": ""}


def test_settings_as_they_are_need_no_write() -> None:
    draft = a_draft({"retention.ms": "1"})
    _alter(draft, (SET, "retention.ms", "1"), (DELETE, "segment.ms", None))
    assert draft.ops == []


def test_deleting_what_nobody_knows_is_no_error() -> None:
    draft = a_draft()
    _alter(draft, (DELETE, "no.such.key", None))
    assert draft.ops == []


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        (
            [(SET, "retention.ms", "1"), (SET, "retention.ms", "2")],
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (
            [(SET, "retention.ms", None), (APPEND, "cleanup.policy", None)],
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for : retention.ms, cleanup.policy",
        ),
        (
            [(APPEND, "retention.ms", "1")],
            ErrorCode.INVALID_CONFIG,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (
            [(SUBTRACT, "no.such.key", "1")],
            ErrorCode.INVALID_CONFIG,
            "Can't SUBTRACT to key no.such.key because its type is not LIST.",
        ),
        (
            [(SET, "no.such.key", "1")],
            ErrorCode.INVALID_CONFIG,
            "Unknown topic config name: no.such.key",
        ),
        (
            [(SET, "segment.bytes", "x")],
            ErrorCode.INVALID_CONFIG,
            "Invalid value x for configuration segment.bytes: Not a number of type INT",
        ),
    ],
)
def test_settings_of_a_topic_that_cannot_be_are_refused_as_kafka_does(
    settings: Sequence[tuple[Operation, str, str | None]], code: ErrorCode, words: str
) -> None:
    assert _refusal(a_draft(), *settings) == (code, words)


def test_settings_of_a_topic_are_checked_before_the_topic_is_looked_for() -> None:
    draft = a_draft()
    assert _refusal(draft, (SET, "retention.ms", "1"), name="none") == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "The topic 'none' does not exist.",
    )
    assert _refusal(draft, (SET, "no.key", "1"), name="none")[0] == ErrorCode.INVALID_CONFIG
    assert _refusal(draft, (SET, "no.key", "1"), name="a b")[0] == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert _refusal(draft, (SET, "retention.ms", "1"), name="") == (
        ErrorCode.INVALID_REQUEST,
        "Default topic resources are not allowed.",
    )


@pytest.mark.parametrize("name", [EVERY_BROKER, "1"])
def test_settings_of_brokers_take_effect_at_once(name: str) -> None:
    draft = a_draft()
    _alter(draft, (SET, "log.retention.ms", "77"), scope=Scope.BROKER, name=name)
    assert draft.layers.broker.topic_defaults.retention_ms == 77
    assert draft.change().broker_configs_changed
    _alter(draft, (SET, "log.flush.interval.ms", "5"), scope=Scope.BROKER, name=name)
    assert draft.broker_config(name) == {"log.retention.ms": "77", "log.flush.interval.ms": "5"}
    assert [type(op) for op in draft.ops] == [Create, Put]


def test_what_is_set_for_one_broker_wins_over_what_is_set_for_all() -> None:
    draft = a_draft(broker_configs={EVERY_BROKER: {"log.retention.ms": "1"}})
    _alter(draft, (SET, "log.retention.ms", "2"), scope=Scope.BROKER, name="1")
    assert draft.layers.broker.topic_defaults.retention_ms == 2
    _alter(draft, (DELETE, "log.retention.ms", None), scope=Scope.BROKER, name="1")
    assert draft.layers.broker.topic_defaults.retention_ms == 1


@pytest.mark.parametrize(
    ("name", "setting", "code", "words"),
    [
        (
            "2",
            (SET, "log.retention.ms", "1"),
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id, expected 1, but received 2",
        ),
        (
            "one",
            (SET, "log.retention.ms", "1"),
            ErrorCode.INVALID_REQUEST,
            "Node id must be an integer, but it is: one",
        ),
        (
            "1",
            (SET, "node.id", "5"),
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [node.id]",
        ),
        (
            "",
            (SET, "log.retention.ms", "x"),
            ErrorCode.INVALID_REQUEST,
            "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
        ),
        (
            "",
            (APPEND, "log.retention.ms", "1"),
            ErrorCode.INVALID_CONFIG,
            "Config value append is not allowed for config key: log.retention.ms",
        ),
    ],
)
def test_settings_of_brokers_that_cannot_be_are_refused_as_kafka_does(
    name: str, setting: tuple[Operation, str, str | None], code: ErrorCode, words: str
) -> None:
    assert _refusal(a_draft(), setting, scope=Scope.BROKER, name=name) == (code, words)


def test_a_default_that_contradicts_a_topic_is_refused() -> None:
    draft = a_draft({"max.compaction.lag.ms": "10"})
    code, words = _refusal(
        draft, (SET, "log.cleaner.min.compaction.lag.ms", "11"), scope=Scope.BROKER, name="1"
    )
    assert code == ErrorCode.INVALID_REQUEST
    assert words.startswith("topic t: conflict")


def test_what_is_named_twice_in_a_request_is_found() -> None:
    changes = [
        ConfigChange(Scope.TOPIC, "1", []),
        ConfigChange(Scope.BROKER, "1", []),
        ConfigChange(Scope.TOPIC, "2", []),
        ConfigChange(Scope.TOPIC, "1", []),
    ]
    assert repeated(changes) == {(Scope.TOPIC, "1")}
