"""kio: one generated, typed entity for each message and version, and its reader and writer.

Values are made up from the types of the entities' fields. kio speaks of durations, times and error
codes where the wire has numbers; here they are numbers again, under our names.
"""

import dataclasses
import datetime
import functools
import importlib
import io
import pkgutil
import typing
import uuid
from typing import Any

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from kwire.codec.apis import Api
from kwire.tests.codec.oracles.plain import (
    BYTES,
    NO_UUID,
    TEXTS,
    UUIDS,
    Plain,
    PlainStrategy,
    integers,
    lists,
)

# A class of kio's; as it is generated, nothing more can be said of it statically.
Entity = Any

EPOCH = datetime.datetime.fromtimestamp(0, tz=datetime.UTC)
MILLISECOND = datetime.timedelta(milliseconds=1)

# kio cannot hold every number that the wire can: only error codes it knows, and only spans of time
# that Python can express.
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": integers(8),
    "int16": integers(16),
    "int32": integers(32),
    "int64": integers(64),
    "uint16": integers(16, signed=False),
    "string": TEXTS,
    "bytes": BYTES,
    "records": BYTES,
    "uuid": UUIDS,
    "error_code": st.sampled_from([code.value for code in ErrorCode]),
    "timedelta_i32": integers(32),
    "timedelta_i64": st.integers(-(2**40), 2**40),
    "datetime_i64": st.integers(0, 2**40),
}


class Kio:
    """The oracle that was generated from Kafka's definitions by another project."""

    def versions(self, api: Api) -> range:
        package = importlib.import_module(f"kio.schema.{api.stem}")
        found = [int(module.name[1:]) for module in pkgutil.iter_modules(package.__path__)]
        return range(min(found), max(found) + 1)

    def values(self, api: Api, side: str, version: int) -> PlainStrategy:
        """Messages made up from kio's schema, which knows every version that we speak."""
        return _values(entity(api, side, version))

    def encode(self, api: Api, side: str, version: int, plain: Plain) -> bytes:
        kind = entity(api, side, version)
        stream = io.BytesIO()
        entity_writer(kind)(stream, _to_entity(kind, plain))
        return stream.getvalue()

    def decode(self, api: Api, side: str, version: int, data: bytes) -> Plain:
        kind = entity(api, side, version)
        found, size = entity_reader(kind)(data, 0)
        assert size == len(data), "kio left bytes over"
        return _from_entity(found)


def entity(api: Api, side: str, version: int) -> Entity:
    module = importlib.import_module(f"kio.schema.{api.stem}.v{version}.{side}")
    found: Entity = getattr(module, api.name + side.capitalize())
    return found


class Shape(typing.NamedTuple):
    """What the annotation of an entity's field says."""

    name: str
    ours: str
    kind: str
    entity: Entity
    is_array: bool
    is_nullable: bool


@functools.cache
def shapes(kind: Entity) -> tuple[Shape, ...]:
    """The fields of an entity, in the order they travel in."""
    hints = typing.get_type_hints(kind)
    return tuple(_shape(field, hints[field.name]) for field in dataclasses.fields(kind))


def _shape(field: dataclasses.Field[Any], hint: Any) -> Shape:
    options = [option for option in typing.get_args(hint) if option is not type(None)]
    is_nullable = type(None) in typing.get_args(hint)
    inner = options[0] if is_nullable else hint
    is_array = typing.get_origin(inner) is tuple
    if is_array:
        inner = typing.get_args(inner)[0]
    kind = field.metadata.get("kafka_type", "entity")
    in_time = kind.startswith(("timedelta", "datetime"))
    ours = f"{field.name}_ms" if in_time else field.name
    nested = inner if kind == "entity" else None
    return Shape(field.name, ours, kind, nested, is_array, is_nullable)


@functools.cache
def _values(kind: Entity) -> PlainStrategy:
    return st.fixed_dictionaries({shape.ours: _value(shape) for shape in shapes(kind)})


def _value(shape: Shape) -> st.SearchStrategy[Any]:
    value = SCALARS[shape.kind] if shape.entity is None else _values(shape.entity)
    if shape.is_array:
        value = lists(value)
    if not shape.is_nullable or shape.kind == "uuid":
        return value
    return (st.just(-1) if shape.kind == "datetime_i64" else st.none()) | value


def _to_entity(kind: Entity, plain: Plain) -> Any:
    return kind(**{shape.name: _each(_written, shape, plain[shape.ours]) for shape in shapes(kind)})


def _from_entity(found: Any) -> Plain:
    return {
        shape.ours: _each(_read, shape, getattr(found, shape.name))
        for shape in shapes(found.__class__)
    }


def _each(convert: Any, shape: Shape, value: Any) -> Any:
    if shape.is_array and value is not None:
        kind = tuple if convert is _written else list
        return kind(convert(shape, item) for item in value)
    return convert(shape, value)


def _written(shape: Shape, value: Any) -> Any:
    if value is None:
        return None
    if shape.entity is not None:
        return _to_entity(shape.entity, value)
    if shape.kind == "uuid":
        return None if value == NO_UUID else uuid.UUID(bytes=value)
    if shape.kind == "error_code":
        return ErrorCode(value)
    if shape.kind.startswith("timedelta"):
        return value * MILLISECOND
    if shape.kind.startswith("datetime"):
        return None if value == -1 else EPOCH + value * MILLISECOND
    return value


def _read(shape: Shape, value: Any) -> Any:
    if shape.kind == "uuid":
        return NO_UUID if value is None else value.bytes
    if shape.kind.startswith("datetime"):
        return -1 if value is None else (value - EPOCH) // MILLISECOND
    if value is None:
        return None
    if shape.entity is not None:
        return _from_entity(value)
    if shape.kind == "error_code":
        return value.value
    return value // MILLISECOND if shape.kind.startswith("timedelta") else value
