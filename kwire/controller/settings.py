"""Settings of topics and brokers, changed while they run.

Texts of refusals are Kafka's, since people search for them. Kafka words and codes some of them
differently for topics and for brokers; so do we.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kwire.config.broker import BROKER_KEYS
from kwire.config.keys import ConfigType, Key, split_list
from kwire.config.layered import Layers, check_dynamic
from kwire.config.topic import TOPIC_KEYS, resolve_topic
from kwire.controller.commands import ConfigChange, Operation, Scope, Setting
from kwire.controller.draft import Draft
from kwire.controller.image import EVERY_BROKER
from kwire.controller.topics import check_name
from kwire.errors import InvalidConfig, InvalidRequest, KwireError, UnknownTopicOrPartition


def repeated(changes: Sequence[ConfigChange]) -> set[tuple[Scope, str]]:
    """What is named more than once: then nobody could say in which order it was meant."""
    times = Counter((change.scope, change.name) for change in changes)
    return {named for named, count in times.items() if count > 1}


def known(config: Mapping[str, str]) -> dict[str, str]:
    """Broker settings without those that only a newer kwire would know."""
    return {name: value for name, value in config.items() if name in BROKER_KEYS}


def alter_config(draft: Draft, change: ConfigChange, *, node_id: int) -> None:
    _check_settings(change.settings)
    if change.scope is Scope.TOPIC:
        _alter_topic(draft, change)
    else:
        _alter_broker(draft, change, node_id)


def _check_settings(settings: Sequence[Setting]) -> None:
    if len({setting.name for setting in settings}) != len(settings):
        raise InvalidRequest("Error due to duplicate config keys")
    without_value = [
        name
        for operation, name, value in settings
        if value is None and operation is not Operation.DELETE
    ]
    if without_value:
        raise InvalidRequest(f"Null value not supported for : {', '.join(without_value)}")


def _alter_topic(draft: Draft, change: ConfigChange) -> None:
    topic = draft.topic(change.name)
    config = _altered({} if topic is None else topic.config, change, TOPIC_KEYS)
    if not change.name:
        raise InvalidRequest("Default topic resources are not allowed.")
    check_name(change.name)
    resolve_topic(config, draft.layers.broker)
    if topic is None:
        raise UnknownTopicOrPartition(f"The topic '{change.name}' does not exist.")
    if config != topic.config:
        draft.configure_topic(topic, config)


def _alter_broker(draft: Draft, change: ConfigChange, node_id: int) -> None:
    _check_broker_name(change.name, node_id)
    config = _altered(draft.broker_config(change.name), change, BROKER_KEYS)
    check_dynamic(draft.layers, config)
    layers = _with_broker_config(draft.layers, change.name, config)
    _check_topics_follow(draft, layers)
    if config != draft.broker_config(change.name):
        draft.configure_broker(change.name, config, layers)


def _check_broker_name(name: str, node_id: int) -> None:
    if name in (EVERY_BROKER, str(node_id)):
        return
    digits = name.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise InvalidRequest(f"Node id must be an integer, but it is: {name}")
    raise InvalidRequest(f"Unexpected broker id, expected {node_id}, but received {name}")


def _with_broker_config(layers: Layers, name: str, config: Mapping[str, str]) -> Layers:
    try:
        if name == EVERY_BROKER:
            return layers.with_dynamic(default=config)
        return layers.with_dynamic(broker=config)
    except InvalidConfig as refused:
        raise InvalidRequest(refused.message) from None


def _check_topics_follow(draft: Draft, layers: Layers) -> None:
    """A default may contradict what a topic sets for itself; Kafka finds out when it is used."""
    for topic in draft.configured_topics():
        try:
            resolve_topic(topic.config, layers.broker)
        except KwireError as refused:
            raise InvalidRequest(f"topic {topic.name}: {refused.message}") from None


def _altered(
    current: Mapping[str, str], change: ConfigChange, keys: Mapping[str, Key[Any]]
) -> dict[str, str]:
    config = {} if change.replaces_all else dict(current)
    for operation, name, value in change.settings:
        if operation is Operation.DELETE or value is None:
            config.pop(name, None)
        elif operation is Operation.SET:
            config[name] = value
        else:
            _check_is_list(operation, name, change.scope, keys)
            items = split_list(config.get(name, keys[name].show(keys[name].default) or ""))
            config[name] = ",".join(_combined(operation, items, value))
    return config


def _check_is_list(
    operation: Operation, name: str, scope: Scope, keys: Mapping[str, Key[Any]]
) -> None:
    declared = keys.get(name)
    if declared is not None and declared.parser.type is ConfigType.LIST:
        return
    if scope is Scope.TOPIC:
        raise InvalidConfig(f"Can't {operation.name} to key {name} because its type is not LIST.")
    verb = operation.name.lower()
    raise InvalidConfig(f"Config value {verb} is not allowed for config key: {name}")


def _combined(operation: Operation, items: list[str], value: str) -> list[str]:
    given = split_list(value)
    if operation is Operation.SUBTRACT:
        return [item for item in items if item not in given]
    return [*items, *(item for item in dict.fromkeys(given) if item not in items)]
