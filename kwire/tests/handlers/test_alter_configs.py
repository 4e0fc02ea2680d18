"""AlterConfigs: all settings of a resource are replaced at once."""

import pytest

from kwire.codec.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
)
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

TOPIC, BROKER = 2, 4
NEWEST = 2


@pytest.fixture(autouse=True)
def _a_topic(node: OpenNode) -> None:
    node.create("orders", retention_ms="1000")


def _alter(
    node: OpenNode,
    kind: int,
    name: str,
    settings: list[tuple[str, str | None]],
    *,
    version: int = NEWEST,
    validate_only: bool = False,
) -> AlterConfigsResourceResponse:
    configs = [AlterableConfig(name=key, value=value) for key, value in settings]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = AlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (told,) = node.ask(request, version).responses
    assert isinstance(told, AlterConfigsResourceResponse)
    assert (told.resource_type, told.resource_name) == (kind, name)
    return told


def _config(node: OpenNode) -> dict[str, str]:
    return dict(node.node.controller.image.topics["orders"].config)


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_what_is_not_named_goes_back_to_its_default(node: OpenNode, version: int) -> None:
    told = _alter(node, TOPIC, "orders", [("segment.bytes", "2000000")], version=version)
    assert (told.error_code, told.error_message) == (ErrorCode.NONE, None)
    assert _config(node) == {"segment.bytes": "2000000"}
    assert _alter(node, TOPIC, "orders", [], version=version).error_code == ErrorCode.NONE
    assert _config(node) == {}


def test_settings_of_a_broker_are_replaced_too(node: OpenNode) -> None:
    _alter(node, BROKER, str(NODE_ID), [("log.retention.ms", "5000")])
    assert node.node.config.topic_defaults.retention_ms == 5000
    _alter(node, BROKER, str(NODE_ID), [("log.segment.bytes", "2000000")])
    assert node.node.config.topic_defaults.segment_bytes == 2_000_000
    assert node.node.controller.layers.dynamic_broker == {"log.segment.bytes": "2000000"}


def test_only_checking_changes_nothing(node: OpenNode) -> None:
    assert _alter(node, TOPIC, "orders", [], validate_only=True).error_code == ErrorCode.NONE
    assert _config(node) == {"retention.ms": "1000"}


@pytest.mark.parametrize(
    ("kind", "name", "settings", "code", "words"),
    [
        (
            TOPIC,
            "orders",
            [("retention.ms", None)],
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for : retention.ms",
        ),
        (
            TOPIC,
            "orders",
            [("retention.ms", "1"), ("retention.ms", "2")],
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (
            TOPIC,
            "missing",
            [("retention.ms", "1")],
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'missing' does not exist.",
        ),
        (BROKER, "7", [], ErrorCode.INVALID_REQUEST, "Unexpected broker id"),
        (0, "x", [], ErrorCode.INVALID_REQUEST, "Unknown resource type 0"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_replaced(
    node: OpenNode,
    kind: int,
    name: str,
    settings: list[tuple[str, str | None]],
    code: ErrorCode,
    words: str,
) -> None:
    told = _alter(node, kind, name, settings)
    assert told.error_code == code
    assert words in (told.error_message or "")
    assert _config(node) == {"retention.ms": "1000"}
