"""What fields weigh, on the wire and in memory."""

import sys
import tracemalloc
from typing import Any

import pytest

from kwire.codec.apis import FETCH, METADATA, OFFSET_COMMIT, PRODUCE, Api
from kwire.codec.bounds import element_weight, item_of, least_size
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


def _array_in(cls: type[Any], *path: str) -> Field:
    field = next(field for field in fields_of(cls) if field.name == path[0])
    item = item_of(field)
    if len(path) == 1:
        return item
    assert isinstance(item.item, type)
    return _array_in(item.item, *path[1:])


@pytest.mark.parametrize(
    ("api", "version", "path"),
    [
        (FETCH, 12, ("topics",)),
        (FETCH, 12, ("topics", "partitions")),
        (PRODUCE, 9, ("topic_data",)),
        (PRODUCE, 9, ("topic_data", "partition_data")),
        (METADATA, 9, ("topics",)),
        (OFFSET_COMMIT, 8, ("topics",)),
    ],
)
def test_no_element_takes_more_memory_than_its_weight(
    api: Api, version: int, path: tuple[str, ...]
) -> None:
    item = _array_in(api.request, *path)
    least = least_size(item, version, api.is_flexible(version))
    count = 20_000
    assert _memory_of_elements(api, version, path, count, least) <= count * element_weight(item)


def _memory_of_elements(
    api: Api, version: int, path: tuple[str, ...], count: int, least: int
) -> int:
    """What so many elements take at most; each byte of them has its highest harmless value."""
    message: Any = api.request()
    holder = message
    for name in path[:-1]:
        outer = _array_in(api.request, name)
        assert isinstance(outer.item, type)
        inner = outer.item()
        setattr(holder, name, [inner])
        holder = inner
    item = _array_in(api.request, *path)
    assert isinstance(item.item, type)
    setattr(holder, path[-1], [_heavy(item.item, version)] * count)
    frame = memoryview(b"".join(api.encode_request(version)(message)))
    assert len(frame) >= count * least
    decode = api.decode_request(version)
    decode(frame, 0)
    tracemalloc.start()
    try:
        decoded = decode(frame, 0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert decoded[1] == len(frame)
    assert sys.getsizeof(decoded) < used
    return used


def _heavy(cls: type[Any], version: int) -> Any:
    """A struct whose numbers are too large to be shared, and whose arrays are empty."""
    values = {"int32": 2**30, "int64": 2**62, "int16": 2**14, "uuid": bytes(range(16))}
    return cls(
        **{
            field.name: values[field.kind]
            for field in fields_of(cls)
            if field.kind in values and field.exists_in(version)
        }
    )
