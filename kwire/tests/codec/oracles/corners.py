"""Corner messages: what made-up values may miss by chance, built on purpose from Kafka's JSON."""

from typing import Any

from kwire.tests.codec.oracles.kafka_json import Definition, definition, fields_in, is_nullable
from kwire.tests.codec.oracles.plain import Plain

# None of these is a default of a tagged field, so each of them is written.
SOMETHING: dict[str, Any] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint16"), 1),
    "bool": True,
    "string": "x",
    "bytes": b"y",
    "records": b"z",
    "uuid": bytes(range(16)),
}


def corners(api_name: str, side: str, version: int) -> list[Plain]:
    """Give three messages: nothing is null, every leaf that may be is, all that may be is.

    Each array that is not null has one item, and each tagged field differs from its default.
    """
    fields = definition(api_name, side)["fields"]
    return [
        _message(fields, version, null_leaves=False, null_branches=False),
        _message(fields, version, null_leaves=True, null_branches=False),
        _message(fields, version, null_leaves=True, null_branches=True),
    ]


def _message(fields: list[Definition], version: int, **nulls: bool) -> Plain:
    return {name: _value(field, version, **nulls) for name, field in fields_in(fields, version)}


def _value(field: Definition, version: int, **nulls: bool) -> Any:
    """A leaf holds no other field; a branch is a struct, or an array of structs."""
    is_branch = "fields" in field
    if is_nullable(field, version) and nulls["null_branches" if is_branch else "null_leaves"]:
        return None
    kind = field["type"].removeprefix("[]")
    one = _message(field["fields"], version, **nulls) if is_branch else SOMETHING[kind]
    return [one] if field["type"].startswith("[]") else one
