"""IncrementalAlterConfigs: single settings change, and the others stay."""

import pytest

from kwire.codec.messages.incremental_alter_configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResourceResponse,
)
from kwire.controller.image import EVERY_BROKER
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

TOPIC, BROKER, BROKER_LOGGER, GROUP = 2, 4, 8, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
NEWEST = 1

Change = tuple[str, int, str | None]


@pytest.fixture(autouse=True)
def _a_topic(node: OpenNode) -> None:
    node.create("orders", retention_ms="1000")


def _resource(kind: int, name: str, *changes: Change) -> IncrementalAlterConfigsResource:
    return IncrementalAlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            IncrementalAlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def _alter(
    node: OpenNode, *resources: IncrementalAlterConfigsResource, validate_only: bool = False
) -> list[IncrementalAlterConfigsResourceResponse]:
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    told: list[IncrementalAlterConfigsResourceResponse] = node.ask(request, NEWEST).responses
    assert [(one.resource_type, one.resource_name) for one in told] == [
        (resource.resource_type, resource.resource_name) for resource in resources
    ]
    return told


def _config(node: OpenNode) -> dict[str, str]:
    return dict(node.node.controller.image.topics["orders"].config)


def test_a_setting_is_changed_beside_the_others_and_in_force_at_once(node: OpenNode) -> None:
    (told,) = _alter(node, _resource(TOPIC, "orders", ("segment.bytes", SET, "2000000")))
    assert (told.error_code, told.error_message) == (ErrorCode.NONE, None)
    assert _config(node) == {"retention.ms": "1000", "segment.bytes": "2000000"}
    assert node.node.hosted.find("orders", 0).log.config.segment_bytes == 2_000_000


def test_a_deleted_setting_goes_back_to_its_default(node: OpenNode) -> None:
    for _ in range(2):
        (told,) = _alter(node, _resource(TOPIC, "orders", ("retention.ms", DELETE, None)))
        assert told.error_code == ErrorCode.NONE
    assert _config(node) == {}


def test_lists_can_be_appended_to_and_subtracted_from(node: OpenNode) -> None:
    _alter(node, _resource(TOPIC, "orders", ("cleanup.policy", APPEND, "compact")))
    assert _config(node)["cleanup.policy"] == "delete,compact"
    _alter(node, _resource(TOPIC, "orders", ("cleanup.policy", SUBTRACT, "delete")))
    assert _config(node)["cleanup.policy"] == "compact"


def test_only_checking_changes_nothing(node: OpenNode) -> None:
    good, bad = _alter(
        node,
        _resource(TOPIC, "orders", ("retention.ms", SET, "2000")),
        _resource(BROKER, str(NODE_ID), ("log.retention.ms", SET, "soon")),
        validate_only=True,
    )
    assert good.error_code == ErrorCode.NONE
    assert bad.error_code == ErrorCode.INVALID_REQUEST
    assert _config(node) == {"retention.ms": "1000"}


@pytest.mark.parametrize("name", [EVERY_BROKER, str(NODE_ID), f"0{NODE_ID}"])
def test_settings_of_brokers_are_in_force_at_once(node: OpenNode, name: str) -> None:
    (told,) = _alter(node, _resource(BROKER, name, ("log.segment.bytes", SET, "2000000")))
    assert told.error_code == ErrorCode.NONE
    assert node.node.hosted.find("orders", 0).log.config.segment_bytes == 2_000_000


@pytest.mark.parametrize(
    ("resource", "code", "words"),
    [
        (
            _resource(TOPIC, "orders", ("retention.ms", SET, None)),
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for : retention.ms",
        ),
        (
            _resource(TOPIC, "orders", ("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
            ErrorCode.INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
        (
            _resource(TOPIC, "orders", ("retention.ms", 9, "1")),
            ErrorCode.INVALID_REQUEST,
            "Unknown operations type 9",
        ),
        (
            _resource(TOPIC, "orders", ("retention.ms", APPEND, "1")),
            ErrorCode.INVALID_CONFIG,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (
            _resource(TOPIC, "orders", ("retention.ms", SET, "soon")),
            ErrorCode.INVALID_CONFIG,
            "Not a number of type LONG",
        ),
        (
            _resource(TOPIC, "orders", ("no.such.key", SET, "1")),
            ErrorCode.INVALID_CONFIG,
            "Unknown topic config name: no.such.key",
        ),
        (
            _resource(TOPIC, "missing", ("retention.ms", SET, "1")),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'missing' does not exist.",
        ),
        (
            _resource(TOPIC, "", ("retention.ms", SET, "1")),
            ErrorCode.INVALID_REQUEST,
            "Default topic resources are not allowed.",
        ),
        (
            _resource(BROKER, str(NODE_ID), ("num.partitions", SET, "3")),
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (
            _resource(BROKER, "7", ("log.retention.ms", SET, "1")),
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id",
        ),
        (
            _resource(BROKER_LOGGER, str(NODE_ID), ("kwire", SET, "DEBUG")),
            ErrorCode.INVALID_REQUEST,
            "Unsupported resource type: BROKER_LOGGER",
        ),
        (_resource(GROUP, "g"), ErrorCode.INVALID_REQUEST, "Unsupported resource type: GROUP"),
        (_resource(0, "x"), ErrorCode.INVALID_REQUEST, "Unknown resource type 0"),
    ],
)
def test_what_cannot_be_is_refused_in_kafkas_words_and_the_rest_done(
    node: OpenNode, resource: IncrementalAlterConfigsResource, code: ErrorCode, words: str
) -> None:
    good = _resource(BROKER, EVERY_BROKER, ("log.retention.ms", SET, "9000"))
    refused, done = _alter(node, resource, good)
    assert refused.error_code == code
    assert words in (refused.error_message or "")
    assert done.error_code == ErrorCode.NONE
    assert _config(node) == {"retention.ms": "1000"}
    assert node.node.config.topic_defaults.retention_ms == 9000


def test_a_resource_named_twice_is_refused_twice(node: OpenNode) -> None:
    first = _resource(TOPIC, "orders", ("retention.ms", SET, "1"))
    second = _resource(TOPIC, "orders", ("segment.bytes", SET, "2000000"))
    for told in _alter(node, first, second):
        assert told.error_code == ErrorCode.INVALID_REQUEST
        assert told.error_message == "Each resource must appear at most once."
    assert _config(node) == {"retention.ms": "1000"}
