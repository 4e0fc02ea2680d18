"""What DescribeConfigs tells: every entry of a topic or broker, and where its value comes from."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kwire.config.broker import ALIASES, BROKER_KEYS
from kwire.config.keys import ConfigType, Key
from kwire.config.layered import Layers, Source
from kwire.config.topic import TOPIC_KEYS, resolve_topic


class Synonym(NamedTuple):
    """One layer's value for a setting, under the name it has there."""

    name: str
    value: str | None
    source: Source


class ConfigEntry(NamedTuple):
    name: str
    value: str | None
    source: Source
    is_sensitive: bool
    read_only: bool
    type: ConfigType
    documentation: str
    synonyms: tuple[Synonym, ...]


def describe_topic(
    layers: Layers, overrides: Mapping[str, str], names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """Every topic key, or those of `names`, for a topic with these overrides."""
    resolved = resolve_topic(overrides, layers.broker)
    entries = []
    for name, declared in sorted(TOPIC_KEYS.items()):
        if names and name not in names:
            continue
        broker_name = declared.broker_name
        below = _synonyms(layers, broker_name) if broker_name is not None else []
        shown = _from_name(below, broker_name)
        value = declared.show(getattr(resolved, declared.attribute))
        if name in overrides:
            value = overrides[name].strip()
            below = shown = [Synonym(name, value, Source.DYNAMIC_TOPIC), *shown]
        entries.append(_entry(declared, value, below, shown, read_only=False))
    return entries


def describe_broker(layers: Layers, names: Collection[str] | None = None) -> list[ConfigEntry]:
    """Every broker key, or those of `names`, as this broker uses them."""
    entries = []
    for name, declared in sorted(BROKER_KEYS.items()):
        if names and name not in names:
            continue
        all_synonyms = _synonyms(layers, name)
        value = _effective_text(layers, declared)
        shown = _from_name(all_synonyms, name)
        read_only = not declared.dynamic
        entries.append(_entry(declared, value, shown, shown, read_only=read_only))
    return entries


def describe_broker_defaults(
    layers: Layers, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """Only what was set dynamically for all brokers, as Kafka answers for the empty broker name."""
    entries = []
    for name, value in sorted(layers.dynamic_default.items()):
        if names and name not in names:
            continue
        only = [Synonym(name, value, Source.DYNAMIC_DEFAULT_BROKER)]
        entries.append(_entry(BROKER_KEYS[name], value, only, only, read_only=False))
    return entries


def _entry(
    declared: Key[Any],
    value: str | None,
    all_synonyms: list[Synonym],
    shown: list[Synonym],
    *,
    read_only: bool,
) -> ConfigEntry:
    return ConfigEntry(
        name=declared.name,
        value=None if declared.sensitive else value,
        source=all_synonyms[0].source if all_synonyms else Source.DEFAULT,
        is_sensitive=declared.sensitive,
        read_only=read_only,
        type=declared.parser.type,
        documentation=declared.doc,
        synonyms=tuple(shown),
    )


def _effective_text(layers: Layers, declared: Key[Any]) -> str | None:
    for name in (declared.name, ALIASES.get(declared.name, declared.name)):
        for _, texts in layers.in_order():
            if name in texts:
                return texts[name].strip()
    return declared.show(declared.default)


def _synonyms(layers: Layers, name: str) -> list[Synonym]:
    """Who has a say in a broker key, the strongest first: layer by layer, then name by name."""
    chain = _CHAINS.get(name, (name,))
    found = [
        Synonym(one, texts[one], source)
        for source, texts in layers.in_order()
        for one in chain
        if one in texts
    ]
    for one in chain:
        default = BROKER_KEYS[one].show(BROKER_KEYS[one].default)
        if default is not None:
            found.append(Synonym(one, default, Source.DEFAULT))
    return found


def _from_name(synonyms: list[Synonym], name: str | None) -> list[Synonym]:
    """Kafka leaves out what stands before the first synonym of the name that was asked for."""
    for position, synonym in enumerate(synonyms):
        if synonym.name == name:
            return synonyms[position:]
    return []


def _chains() -> dict[str, tuple[str, ...]]:
    """For each broker key that has coarser units, all of them, the finest first."""
    chains: dict[str, tuple[str, ...]] = {}
    for declared in TOPIC_KEYS.values():
        if declared.broker_name is not None and declared.fallbacks:
            chain = (declared.broker_name, *(other.name for other in declared.fallbacks))
            chains[declared.broker_name] = chain
            chains.update((other.name, chain) for other in declared.fallbacks if other.unit_ms > 1)
    return chains


_CHAINS = _chains()
