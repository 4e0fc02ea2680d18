"""Plain values: the form in which our messages and those of an oracle can be compared.

A plain message is a dictionary of the fields that one version has, by our names: numbers, strings,
bytes (uuids and records too), lists, dictionaries, None. An oracle reads and writes such values
with its own schema and code; nothing here knows our schema's compiler.
"""

from typing import Any, Protocol

from hypothesis import strategies as st

from kwire.codec.apis import Api
from kwire.codec.schema import Field, fields_of

Plain = dict[str, Any]
PlainStrategy = st.SearchStrategy[Plain]

NO_UUID = bytes(16)

UUIDS = st.just(NO_UUID) | st.binary(min_size=16, max_size=16)
# Compact lengths take a second byte from 127 on, so both sides of that edge turn up often.
TEXTS = st.text(max_size=3) | st.sampled_from(["", "kwire", "x" * 126, "x" * 127, "ü" * 100])
BYTES = st.binary(max_size=3) | st.sampled_from([b"", b"y" * 126, b"y" * 127, b"y" * 300])


def integers(bits: int, signed: bool = True) -> st.SearchStrategy[int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.sampled_from([0, 1, low, high]) | st.integers(low, high)


def lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, max_size=2)


class Oracle(Protocol):
    """Somebody else's idea of the protocol."""

    def versions(self, api: Api) -> range:
        """The versions of `api` that this oracle knows."""

    def encode(self, api: Api, side: str, version: int, plain: Plain) -> bytes:
        """The bytes of a message; `side` is "request" or "response"."""

    def decode(self, api: Api, side: str, version: int, data: bytes) -> Plain: ...


def to_plain(message: Any, version: int) -> Plain:
    """Give the fields that `message`, one of ours, has in this version."""
    return {
        field.name: _to_plain(field, getattr(message, field.name), version)
        for field in fields_of(type(message))
        if field.exists_in(version)
    }


def _to_plain(field: Field, value: Any, version: int) -> Any:
    if value is None:
        return None
    if field.kind == "array":
        assert isinstance(field.item, Field)
        return [_to_plain(field.item, item, version) for item in value]
    if field.kind == "struct":
        return to_plain(value, version)
    return bytes(value) if field.kind == "records" else value


def from_plain(cls: type[Any], plain: Plain) -> Any:
    """Build our message; a field that `plain` does not name keeps its default."""
    fields = {field.name: field for field in fields_of(cls)}
    return cls(**{name: _from_plain(fields[name], value) for name, value in plain.items()})


def _from_plain(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.kind == "array":
        assert isinstance(field.item, Field)
        return [_from_plain(field.item, item) for item in value]
    if field.kind == "struct":
        assert isinstance(field.item, type)
        return from_plain(field.item, value)
    return value
