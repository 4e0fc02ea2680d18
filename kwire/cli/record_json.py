"""A record as a line of JSON, written by `kwire consume` and read by `kwire produce`.

    {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1700000000000, "key": "k",
     "value": "v", "headers": [{"key": "a", "value": "b"}]}

Keys and values are text, or null, or {"base64": "..."} for bytes that are not UTF-8. Reading, all
fields may be missing, and `topic` and `offset` are passed over, so that what was consumed can be
produced again.
"""

import base64
import binascii
import json
from typing import Any, NamedTuple

from kwire.codec.records.record import Record

_FIELDS = frozenset({"topic", "partition", "offset", "timestamp", "key", "value", "headers"})

Headers = tuple[tuple[str, bytes | None], ...]


class Absent:
    """Stands for a field that a line does not have."""


ABSENT = Absent()


class Line(NamedTuple):
    """What a line says of a record."""

    key: bytes | Absent | None
    value: bytes | None
    headers: Headers | Absent
    partition: int | None
    timestamp: int | None


def to_json(topic: str, partition: int, record: Record) -> str:
    return json.dumps(
        {
            "topic": topic,
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": shown(record.key),
            "value": shown(record.value),
            "headers": [{"key": name, "value": shown(value)} for name, value in record.headers],
        },
        ensure_ascii=False,
    )


def from_json(text: bytes) -> Line:
    """Read one line; raises ValueError that says what is wrong with it."""
    try:
        fields = json.loads(text)
    except ValueError as broken:
        raise ValueError(f"not JSON: {broken}") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; there are {', '.join(sorted(_FIELDS))}")
    return Line(
        key=_bytes_of(fields["key"], "key") if "key" in fields else ABSENT,
        value=_bytes_of(fields.get("value"), "value"),
        headers=_headers_of(fields["headers"]) if "headers" in fields else ABSENT,
        partition=_number_of(fields, "partition"),
        timestamp=_number_of(fields, "timestamp"),
    )


def shown(value: bytes | None) -> str | dict[str, str] | None:
    """A key or value as JSON can hold it."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes_of(value: Any, field: str) -> bytes | None:
    match value:
        case None:
            return None
        case str():
            # Lone surrogates have no bytes; encoding them raises a ValueError of its own.
            return value.encode()
        case {"base64": str(coded)} if len(value) == 1:
            try:
                return base64.b64decode(coded, validate=True)
            except binascii.Error as wrong:
                raise ValueError(f"{field!r} is not base64: {wrong}") from None
    raise ValueError(f'{field!r} is neither text nor null nor {{"base64": "..."}}')


def _headers_of(value: Any) -> Headers:
    # As in values, names that have no bytes raise a ValueError of their own.
    headers = []
    for each in value if isinstance(value, list) else [value]:
        match each:
            case {"key": str(name)} if not each.keys() - {"key", "value"}:
                name.encode()
                headers.append((name, _bytes_of(each.get("value"), f"header {name}")))
            case _:
                raise ValueError('\'headers\' is not a list of {"key": "...", "value": "..."}')
    return tuple(headers)


def _number_of(fields: dict[str, Any], field: str) -> int | None:
    value = fields.get(field)
    if value is not None and (type(value) is not int or not 0 <= value < 2**63):
        raise ValueError(f"{field!r} is not a number of at least 0")
    return value
