"""Kafka's own message definitions, the JSON that ships in kafka-python, and its reader and writer.

kafka-python's field classes encode and decode plain values; only what they leave to their caller
(defaults of tagged fields, uuids as objects) is done here.
"""

import functools
import io
import json
import re
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kwire.codec.apis import Api
from kwire.tests.codec.oracles.plain import NO_UUID, Plain

with warnings.catch_warnings():
    # kafka-python opens its resources in a way that Python 3.11 calls deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.protocol.schemas.fields as kafka_fields

DEFINITIONS = Path(kafka_fields.__file__).parents[1] / "resources"

Definition = dict[str, Any]


def is_defined(api: Api) -> bool:
    """Whether kafka-python ships Kafka's definition of an API; of a few it does not."""
    return (DEFINITIONS / f"{api.name}Request.json").exists()


@functools.cache
def definition(api_name: str, side: str) -> Definition:
    """Read one message definition, with its common structs put where they are used."""
    text = (DEFINITIONS / f"{api_name}{side.capitalize()}.json").read_text(encoding="utf-8")
    found: Definition = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
    common = {struct["name"]: struct["fields"] for struct in found.get("commonStructs", [])}
    for field in _each_field(found["fields"]):
        name = field["type"].removeprefix("[]")
        if name in common:
            field["fields"] = common[name]
    return found


def _each_field(fields: list[Definition]) -> Iterator[Definition]:
    for field in fields:
        yield field
        yield from _each_field(field.get("fields", []))


def versions_in(text: str | None) -> range:
    """Turn "3-7", "3+", "3" or "none" into the versions it stands for."""
    if text is None or text == "none":
        return range(0)
    first, _, last = text.rstrip("+").partition("-")
    if text.endswith("+"):
        return range(int(first), 1 << 15)
    return range(int(first), int(last or first) + 1)


def fields_in(fields: list[Definition], version: int) -> Iterator[tuple[str, Definition]]:
    """Give the fields that exist in `version`, by their names in snake case."""
    for field in fields:
        if version in versions_in(field["versions"]):
            yield re.sub(r"(?<!^)(?=[A-Z])", "_", field["name"]).lower(), field


def is_nullable(field: Definition, version: int) -> bool:
    return version in versions_in(field.get("nullableVersions"))


def default_of(field: Definition, version: int) -> Any:
    """What an absent field is worth, by the rules of Kafka's generator."""
    kind, default = field["type"], field.get("default")
    if default == "null" or kind == "records":
        return None
    if kind.startswith("[]"):
        return []
    if "fields" in field:
        return {
            name: default_of(part, version) for name, part in fields_in(field["fields"], version)
        }
    if kind == "bool":
        return str(default).lower() == "true"
    if "int" in kind:
        return int(str(default or 0), 0)
    return {"string": default or "", "bytes": b"", "uuid": NO_UUID}[kind]


class KafkaPython:
    """The oracle that speaks by the JSON, through kafka-python."""

    def versions(self, api: Api) -> range:
        if not is_defined(api):
            return range(0)
        return versions_in(definition(api.name, "request")["validVersions"])

    def encode(self, api: Api, side: str, version: int, plain: Plain) -> bytes:
        told = definition(api.name, side)
        flexible = version in versions_in(told["flexibleVersions"])
        theirs = _to_theirs(told["fields"], plain, version)
        encoded: bytes = _struct(api.name, side).encode(
            theirs, version=version, compact=flexible, tagged=flexible
        )
        return encoded

    def decode(self, api: Api, side: str, version: int, data: bytes) -> Plain:
        told = definition(api.name, side)
        flexible = version in versions_in(told["flexibleVersions"])
        stream = io.BytesIO(data)
        theirs = _struct(api.name, side).decode(
            stream, version=version, compact=flexible, tagged=flexible
        )
        assert stream.read() == b"", "kafka-python left bytes over"
        return _from_theirs(told["fields"], theirs, version)


@functools.cache
def _struct(api_name: str, side: str) -> Any:
    return kafka_fields.StructField(definition(api_name, side))


def _to_theirs(fields: list[Definition], plain: Plain, version: int) -> Plain:
    """Leave out tagged fields that have their default: kafka-python would write some of them."""
    return {
        name: _convert(field, plain[name], version, _to_theirs, lambda raw: uuid.UUID(bytes=raw))
        for name, field in fields_in(fields, version)
        if "tag" not in field or plain[name] != default_of(field, version)
    }


def _from_theirs(fields: list[Definition], theirs: Plain, version: int) -> Plain:
    return {
        name: _convert(field, theirs[name], version, _from_theirs, lambda found: found.bytes)
        if name in theirs
        else default_of(field, version)
        for name, field in fields_in(fields, version)
    }


def _convert(field: Definition, value: Any, version: int, structs: Any, uuids: Any) -> Any:
    if field["type"] == "uuid":
        # kafka-python reads a uuid of zeros as None.
        return NO_UUID if value is None else uuids(value)
    if value is None or "fields" not in field:
        return value
    if field["type"].startswith("[]"):
        return [structs(field["fields"], item, version) for item in value]
    return structs(field["fields"], value, version)
