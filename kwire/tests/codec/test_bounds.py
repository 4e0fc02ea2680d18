"""What fields weigh, on the wire and in memory."""

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.codec.apis import BY_KEY, Api
from kwire.codec.bounds import element_weight, item_of, least_size
from kwire.codec.compile import Decoder
from kwire.codec.schema import (
    Field,
    array,
    boolean,
    bytes_,
    fields_of,
    int32,
    int64,
    message,
    records,
    string,
    struct,
    uuid,
)

COUNT = 1000
SLACK_BYTES = 16 * 1024

HEAVY: dict[str, Any] = {
    "boolean": True,
    "int8": -100,
    "int16": 2**14,
    "int32": 2**30,
    "int64": 2**62,
    "uuid": bytes(range(16)),
    "string": "xy",
    "bytes": b"xy",
    "records": b"xy",
}


@message
class Part:
    number: int = int64()
    name: str = string()
    later: int = int32(since=5)
    tagged: int = int32(since=2, tag=0)


@pytest.mark.parametrize(
    ("field", "rigid", "flexible"),
    [
        (boolean(), 1, 1),
        (int32(), 4, 4),
        (int64(), 8, 8),
        (uuid(), 16, 16),
        (string(), 2, 1),
        (bytes_(), 4, 1),
        (records(), 4, 1),
        (array(int64()), 4, 1),
        (struct(Part), 10, 10),
        (struct(Part, nullable=True), 1, 1),
    ],
)
def test_the_least_size_is_that_of_an_empty_value(field: Any, rigid: int, flexible: int) -> None:
    assert least_size(field, 1, flexible=False) == rigid
    assert least_size(field, 1, flexible=True) == flexible


def test_the_least_size_counts_only_what_a_version_must_have() -> None:
    part: Any = struct(Part)
    assert least_size(part, 2, flexible=True) == 10
    assert least_size(part, 5, flexible=True) == 14


def _arrays(cls: type[Any], version: int) -> Iterator[tuple[list[str], Field]]:
    """The path to each array of a message, and what it holds."""
    for field in fields_of(cls):
        if not field.exists_in(version):
            continue
        item = _item(field)
        if field.kind == "array":
            yield [field.name], item
        if isinstance(item.item, type):
            for path, inner in _arrays(item.item, version):
                yield [field.name, *path], inner


def _item(field: Field) -> Field:
    return item_of(field) if field.kind == "array" else field


@pytest.mark.parametrize("api", [pytest.param(api, id=api.stem) for api in BY_KEY.values()])
def test_no_element_of_any_array_takes_more_memory_than_its_weight(api: Api) -> None:
    version = api.versions[1]
    for path, item in _arrays(api.request, version):
        crowded = _crowded(api.request, path, _heavy(item, version))
        frame = b"".join(api.encode_request(version)(crowded))
        used = _memory_of(api.decode_request(version), frame)
        assert used <= COUNT * element_weight(item) + SLACK_BYTES, path


def _crowded(cls: type[Any], path: list[str], element: Any) -> Any:
    """A message in which the array at `path` holds many of one element."""
    field = next(field for field in fields_of(cls) if field.name == path[0])
    if len(path) == 1:
        return cls(**{path[0]: [element] * COUNT})
    held = _item(field).item
    assert isinstance(held, type)
    inner = _crowded(held, path[1:], element)
    return cls(**{path[0]: [inner] if field.kind == "array" else inner})


def _heavy(field: Field, version: int) -> Any:
    """A value that nothing is shared of, as small numbers are; arrays are empty."""
    if field.kind == "struct":
        assert isinstance(field.item, type)
        parts = [part for part in fields_of(field.item) if part.exists_in(version)]
        return field.item(**{part.name: _heavy(part, version) for part in parts})
    if field.kind == "array":
        return []
    return HEAVY[field.kind]


def _memory_of(decode: Decoder, frame: bytes) -> int:
    view = memoryview(frame)
    decode(view, 0)
    tracemalloc.start()
    try:
        _, end = decode(view, 0)
        assert end == len(frame)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
