"""DescribeConfigs: the settings of a topic, of this broker, and of all brokers."""

import pytest

from kwire.codec.messages.describe_configs import (
    DescribeConfigsEntry,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.config.broker import BROKER_KEYS
from kwire.config.keys import ConfigType
from kwire.config.layered import Source
from kwire.config.topic import TOPIC_KEYS
from kwire.controller.commands import ConfigChange, Operation, Scope, Setting
from kwire.controller.image import EVERY_BROKER
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
NEWEST = 4


def _resource(kind: int, name: str, keys: list[str] | None = None) -> DescribeConfigsResource:
    return DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)


def _describe(
    node: OpenNode,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    *,
    version: int = NEWEST,
    synonyms: bool = False,
    documentation: bool = False,
) -> DescribeConfigsResult:
    request = DescribeConfigsRequest(
        resources=[_resource(kind, name, keys)],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )
    (result,) = node.ask(request, version).results
    assert isinstance(result, DescribeConfigsResult)
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def _entry(result: DescribeConfigsResult) -> DescribeConfigsEntry:
    assert result.error_code == ErrorCode.NONE, result.error_message
    (entry,) = result.configs
    return entry


def _set_for_brokers(node: OpenNode, name: str, value: str) -> None:
    setting = Setting(Operation.SET, "log.retention.ms", value)
    change = ConfigChange(Scope.BROKER, name, [setting])
    assert node.node.controller.alter_configs([change]).value == [None]


@pytest.mark.parametrize("keys", [None, []])
def test_no_names_ask_for_every_setting_of_a_topic(node: OpenNode, keys: list[str] | None) -> None:
    node.create("orders")
    result = _describe(node, TOPIC, "orders", keys)
    assert {entry.name for entry in result.configs} == set(TOPIC_KEYS)
    assert not any(entry.read_only or entry.is_sensitive for entry in result.configs)


def test_only_what_is_named_and_known_is_told(node: OpenNode) -> None:
    node.create("orders")
    result = _describe(node, TOPIC, "orders", ["segment.bytes", "no.such.key"])
    assert [entry.name for entry in result.configs] == ["segment.bytes"]


def test_a_value_is_told_with_source_and_type(node: OpenNode) -> None:
    node.create("orders", cleanup_policy="compact,delete")
    entry = _entry(_describe(node, TOPIC, "orders", ["cleanup.policy"]))
    assert (entry.value, entry.config_source) == ("compact,delete", Source.DYNAMIC_TOPIC)
    assert entry.config_type == ConfigType.LIST


def test_the_type_is_not_told_before_version_3(node: OpenNode) -> None:
    node.create("orders")
    entry = _entry(_describe(node, TOPIC, "orders", ["cleanup.policy"], version=2))
    assert (entry.config_source, entry.config_type) == (Source.DEFAULT, ConfigType.UNKNOWN)


def test_synonyms_and_documentation_are_told_only_to_who_asks(node: OpenNode) -> None:
    node.create("orders", segment_bytes="2000000")
    keys = ["segment.bytes"]
    quiet = _entry(_describe(node, TOPIC, "orders", keys))
    assert (quiet.synonyms, quiet.documentation) == ([], None)
    told = _entry(_describe(node, TOPIC, "orders", keys, synonyms=True, documentation=True))
    assert told.documentation == TOPIC_KEYS["segment.bytes"].doc
    assert told.synonyms == [
        DescribeConfigsSynonym(name="segment.bytes", value="2000000", source=Source.DYNAMIC_TOPIC),
        DescribeConfigsSynonym(name="log.segment.bytes", value="1073741824", source=Source.DEFAULT),
    ]


def test_a_topic_follows_what_was_set_for_its_broker(node: OpenNode) -> None:
    node.create("orders")
    _set_for_brokers(node, str(NODE_ID), "5000")
    entry = _entry(_describe(node, TOPIC, "orders", ["retention.ms"]))
    assert (entry.value, entry.config_source) == ("5000", Source.DYNAMIC_BROKER)


def test_a_broker_tells_all_its_settings_and_which_of_them_are_fixed(node: OpenNode) -> None:
    result = _describe(node, BROKER, str(NODE_ID))
    read_only = {entry.name: entry.read_only for entry in result.configs}
    assert read_only.keys() == BROKER_KEYS.keys()
    assert (read_only["num.partitions"], read_only["log.retention.ms"]) == (True, False)


def test_the_empty_broker_name_tells_only_what_was_set_for_all(node: OpenNode) -> None:
    assert _describe(node, BROKER, EVERY_BROKER).configs == []
    _set_for_brokers(node, EVERY_BROKER, "7000")
    entry = _entry(_describe(node, BROKER, EVERY_BROKER))
    assert (entry.name, entry.value) == ("log.retention.ms", "7000")
    assert entry.config_source == Source.DYNAMIC_DEFAULT_BROKER


@pytest.mark.parametrize(
    ("kind", "name", "code", "words"),
    [
        (TOPIC, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        (TOPIC, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid"),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION, "the empty string is not allowed"),
        (BROKER, "7", ErrorCode.INVALID_REQUEST, "expected 1 or empty string, but received 7"),
        (BROKER, "seven", ErrorCode.INVALID_REQUEST, "must be an integer, but it is: seven"),
        (BROKER, " 1", ErrorCode.INVALID_REQUEST, "must be an integer"),
        (BROKER, "1" * 5000, ErrorCode.INVALID_REQUEST, "must be an integer"),
        (BROKER_LOGGER, "1", ErrorCode.INVALID_REQUEST, "Unsupported resource type: BROKER_LOGGER"),
        (CLIENT_METRICS, "m", ErrorCode.INVALID_REQUEST, "CLIENT_METRICS"),
        (GROUP, "g", ErrorCode.INVALID_REQUEST, "GROUP"),
        (99, "x", ErrorCode.INVALID_REQUEST, "Unknown resource type 99"),
    ],
)
def test_what_is_not_here_is_refused_and_the_rest_told(
    node: OpenNode, kind: int, name: str, code: ErrorCode, words: str
) -> None:
    node.create("orders")
    request = DescribeConfigsRequest(resources=[_resource(kind, name), _resource(TOPIC, "orders")])
    refused, told = node.ask(request, NEWEST).results
    assert (refused.error_code, refused.configs) == (code, [])
    assert words in refused.error_message
    assert (told.error_code, len(told.configs)) == (ErrorCode.NONE, len(TOPIC_KEYS))
