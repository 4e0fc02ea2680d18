"""Our declarations against Kafka's message definitions: the same fields, and none besides."""

import importlib
import re
import typing
from collections.abc import Iterator
from types import GenericAlias
from typing import Any, NamedTuple

import pytest

from kwire.codec.apis import BY_KEY, Api
from kwire.codec.primitives import Buffer
from kwire.codec.schema import Field, fields_of
from kwire.tests.codec.oracles import kafka_json
from kwire.tests.codec.oracles.kafka_json import Definition, definition, is_defined, versions_in
from kwire.tests.codec.oracles.kio_entities import Entity, entity, shapes
from kwire.tests.codec.oracles.plain import to_plain

APIS = [pytest.param(api, id=api.stem) for api in BY_KEY.values()]
DEFINED = [pytest.param(api, id=api.stem) for api in BY_KEY.values() if is_defined(api)]
SIDES = ("request", "response")

# APIs whose definitions do not come with kafka-python; kio knows them.
UNDEFINED = {"consumer_group_heartbeat", "consumer_group_describe"}

# What Kafka's definitions have and its brokers do not advertise: 4.3 calls it unstable.
UNSTABLE = {("InitProducerId", 6)}

KINDS = {
    "bool": "boolean",
    "entity": "struct",
    "error_code": "int16",
    "timedelta_i32": "int32",
    "timedelta_i64": "int64",
    "datetime_i64": "int64",
}

PYTHON_TYPES: dict[str, list[Any]] = {
    **{kind: [int] for kind in ("int8", "int16", "int32", "int64")},
    "boolean": [bool],
    "string": [str],
    "bytes": [bytes],
    "uuid": [bytes],
    # Read as a view into the frame, written from whatever buffer there is.
    "records": [memoryview, Buffer],
}


class Declared(NamedTuple):
    """All that is said about a field in one version."""

    name: str
    kind: str
    is_array: bool
    is_nullable: bool
    tag: int | None
    default: Any
    parts: tuple["Declared", ...]


def _upstream(fields: list[Definition], version: int) -> Iterator[Declared]:
    for name, field in kafka_json.fields_in(fields, version):
        is_struct = "fields" in field
        kind = field["type"].removeprefix("[]")
        yield Declared(
            name,
            kind="struct" if is_struct else KINDS.get(kind, kind),
            is_array=field["type"].startswith("[]"),
            is_nullable=kafka_json.is_nullable(field, version),
            tag=field["tag"] if version in versions_in(field.get("taggedVersions")) else None,
            default=kafka_json.default_of(field, version),
            parts=tuple(_upstream(field["fields"], version)) if is_struct else (),
        )


def _ours(cls: type[Any], version: int) -> Iterator[Declared]:
    defaults = to_plain(cls(), version)
    for field in fields_of(cls):
        if not field.exists_in(version):
            continue
        item = _item(field)
        yield Declared(
            field.name,
            kind=item.kind,
            is_array=field.kind == "array",
            is_nullable=field.is_nullable_in(version),
            tag=field.tag if field.is_tagged_in(version) else None,
            default=defaults[field.name],
            parts=tuple(_ours(item.item, version)) if isinstance(item.item, type) else (),
        )


def _item(field: Field) -> Field:
    """The field itself, or what an array holds."""
    if field.kind != "array":
        return field
    assert isinstance(field.item, Field)
    return field.item


def _spoken(api: Api) -> range:
    return range(api.first_readable, api.versions[1] + 1)


@pytest.mark.parametrize("api", DEFINED)
@pytest.mark.parametrize("side", SIDES)
def test_a_message_has_the_fields_of_kafkas_definition_in_every_version(
    api: Api, side: str
) -> None:
    upstream = definition(api.name, side)["fields"]
    for version in _spoken(api):
        ours = list(_ours(getattr(api, side), version))
        assert ours == list(_upstream(upstream, version)), f"version {version}"


def test_definitions_are_missing_only_where_that_is_known() -> None:
    assert {api.stem for api in BY_KEY.values() if not is_defined(api)} == UNDEFINED


class Named(NamedTuple):
    """What kio's entities and our declarations both say about a field in one version."""

    name: str
    kind: str
    is_array: bool
    is_nullable: bool
    parts: tuple["Named", ...]


def _kios(kind: Entity) -> Iterator[Named]:
    for shape in shapes(kind):
        parts = () if shape.entity is None else tuple(_kios(shape.entity))
        # kio has a None of its own for ids that are zero and for times that are -1.
        is_nullable = shape.is_nullable and shape.kind not in ("uuid", "datetime_i64")
        known = KINDS.get(shape.kind, shape.kind)
        yield Named(shape.ours, known, shape.is_array, is_nullable, parts)


def _named(declared: Declared) -> Named:
    parts = tuple(_named(part) for part in declared.parts)
    return Named(declared.name, declared.kind, declared.is_array, declared.is_nullable, parts)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("side", SIDES)
def test_a_message_has_the_fields_of_kios_entity_in_every_version(api: Api, side: str) -> None:
    for version in _spoken(api):
        ours = [_named(declared) for declared in _ours(getattr(api, side), version)]
        assert ours == list(_kios(entity(api, side, version))), f"version {version}"


@pytest.mark.parametrize("api", APIS)
def test_no_field_is_declared_that_no_version_has(api: Api) -> None:
    for side in SIDES:
        reached = {
            (cls, field.name)
            for version in _spoken(api)
            for cls, field in _each_field(getattr(api, side), version)
        }
        classes = {cls for cls, _ in reached}
        declared = {(cls, field.name) for cls in classes for field in fields_of(cls)}
        assert declared == reached


def _each_field(cls: type[Any], version: int) -> Iterator[tuple[type[Any], Field]]:
    for field in fields_of(cls):
        if field.exists_in(version):
            yield cls, field
            nested = _item(field).item
            if isinstance(nested, type):
                yield from _each_field(nested, version)


@pytest.mark.parametrize("api", APIS)
def test_a_version_is_named_only_where_it_makes_a_difference(api: Api) -> None:
    first, last = api.first_readable, api.versions[1]
    for side in SIDES:
        for version in _spoken(api):
            for cls, field in _each_field(getattr(api, side), version):
                where = f"{cls.__name__}.{field.name}"
                assert field.since == 0 or first < field.since <= last, where
                assert field.until is None or first <= field.until < last, where


@pytest.mark.parametrize("api", APIS)
def test_an_annotation_says_what_a_field_holds(api: Api) -> None:
    for side in SIDES:
        for version in _spoken(api):
            for cls, field in _each_field(getattr(api, side), version):
                hint = typing.get_type_hints(cls)[field.name]
                where = f"{cls.__name__}.{field.name}"
                assert hint in _expected_annotations(field), where


def _expected_annotations(field: Field) -> list[Any]:
    item = _item(field)
    held: list[Any] = [item.item] if item.kind == "struct" else PYTHON_TYPES[item.kind]
    if field.kind == "array":
        held = [GenericAlias(list, kind) for kind in held]
    return held if field.nullable_since is None else [kind | None for kind in held]


@pytest.mark.parametrize("api", DEFINED)
def test_key_and_versions_are_kafkas(api: Api) -> None:
    for side in SIDES:
        upstream = definition(api.name, side)
        flexible = versions_in(upstream["flexibleVersions"])
        stable = [
            version
            for version in versions_in(upstream["validVersions"])
            if (api.name, version) not in UNSTABLE
        ]
        assert api.key == upstream["apiKey"]
        assert list(_spoken(api)) == stable
        for version in _spoken(api):
            assert api.is_flexible(version) == (version in flexible)


@pytest.mark.parametrize("api", APIS)
def test_key_and_flexibility_are_kios(api: Api) -> None:
    for side in SIDES:
        for version in _spoken(api):
            assert api.key == entity(api, side, version).__api_key__
            assert api.is_flexible(version) == entity(api, side, version).__flexible__


@pytest.mark.parametrize("api", APIS)
def test_the_history_of_an_api_tells_every_version_once(api: Api) -> None:
    history = importlib.import_module(f"kwire.codec.messages.{api.stem}").__doc__ or ""
    assert history.startswith(f"{api.name}, key {api.key}: ")
    told = [int(version) for version in re.findall(r"(?m)^v(\d+) \w", history)]
    assert told == list(_spoken(api))


@pytest.mark.parametrize("api", APIS)
def test_the_history_says_from_which_version_on_an_api_is_flexible(api: Api) -> None:
    history = importlib.import_module(f"kwire.codec.messages.{api.stem}").__doc__ or ""
    told = re.findall(r"(?m)^v(\d+) (?:.*, )?flexible\b", history)
    assert told == ([] if api.flexible is None else [str(api.flexible)])
