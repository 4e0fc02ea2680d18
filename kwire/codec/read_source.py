"""The source of a decoder: `read_<n>(buf, pos, end, left) -> (message, pos)` for each class in it.

`left` is what the message may still cost in memory: every array pays for its elements before they
are made, so that no count in a small frame can ask for a large amount of memory.
"""

import struct
from collections.abc import Callable
from typing import Any

from kwire.codec.primitives import MalformedMessage, read_uvarint, skip_tags
from kwire.codec.schema import Field, default_struct, fields_of

FIXED = {
    "int8": ("b", 1),
    "int16": ("h", 2),
    "int32": ("i", 4),
    "int64": ("q", 8),
    "uint16": ("H", 2),
    "uint32": ("I", 4),
    "float64": ("d", 8),
    "boolean": ("?", 1),
    "uuid": ("16s", 16),
}

OBJECT_BYTES = 56
SLOT_BYTES = 8
VARIABLE_BYTES = 50
"""What a string or a list costs at least: a guess that is right within a factor of two."""


class ReadSource:
    def __init__(self, version: int, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._lines: list[str] = []
        self._names: dict[type[Any], str] = {}
        self._scope: dict[str, Any] = {
            "uvarint": read_uvarint,
            "skip_tags": skip_tags,
            "Malformed": MalformedMessage,
            "unpack_from": struct.unpack_from,
        }

    def compile(self, cls: type[Any]) -> Callable[..., tuple[Any, int]]:
        name = self._reader(cls)
        exec("\n".join(self._lines), self._scope)
        read: Callable[..., tuple[Any, int]] = self._scope[name]
        return read

    def _reader(self, cls: type[Any]) -> str:
        """Make the function for a class, and first those for the classes inside."""
        if cls in self._names:
            return self._names[cls]
        body: list[str] = []
        present = [field for field in fields_of(cls) if field.exists_in(self._version)]
        plain = [f for f in present if not (self._flexible and f.is_tagged_in(self._version))]
        tagged = [f for f in present if f not in plain and f.tag is not None]
        self._plain(plain, body)
        for field in fields_of(cls):
            if field not in plain:
                self._default(field, body)
        if self._flexible:
            self._tags(tagged, body)
        name = f"read_{len(self._names)}"
        self._names[cls] = name
        self._scope[f"new_{name}"] = cls.__new__
        self._scope[f"cls_{name}"] = cls
        self._lines.append(f"def {name}(buf, pos, end, left):")
        self._lines.append(f"    m = new_{name}(cls_{name})")
        self._lines += [f"    {line}" for line in body]
        self._lines.append("    return m, pos")
        return name

    def _plain(self, fields: list[Field], body: list[str]) -> None:
        run: list[Field] = []
        for field in fields:
            if field.kind in FIXED:
                run.append(field)
                continue
            self._fixed(run, body)
            run = []
            self._variable(field, f"m.{field.name}", body)
        self._fixed(run, body)

    def _fixed(self, run: list[Field], body: list[str]) -> None:
        if not run:
            return
        layout = ">" + "".join(FIXED[field.kind][0] for field in run)
        targets = ", ".join(f"m.{field.name}" for field in run)
        comma = "," if len(run) == 1 else ""
        body.append(f"{targets}{comma} = {self._unpacker(layout)}(buf, pos)")
        body.append(f"pos += {struct.calcsize(layout)}")

    def _unpacker(self, layout: str) -> str:
        name = "unpack_" + layout[1:].replace("?", "B_")
        self._scope[name] = struct.Struct(layout).unpack_from
        return name

    def _variable(self, field: Field, target: str, body: list[str]) -> None:
        is_nullable = field.is_nullable_in(self._version)
        if field.kind == "struct":
            self._struct(field, target, is_nullable, body)
            return
        self._length(field.kind, body)
        body.append("if n < 0:")
        if is_nullable:
            body.append(f"    {target} = None")
        else:
            body.append(f"    raise Malformed('{field.name or 'an element'} is null')")
        body.append("else:")
        inner: list[str] = []
        if field.kind == "array":
            assert isinstance(field.item, Field)
            self._array(field.item, target, inner)
        else:
            self._slice(field.kind, target, inner)
        body += [f"    {line}" for line in inner]

    def _length(self, kind: str, body: list[str]) -> None:
        """Leave the length or count in `n`, -1 for null."""
        if self._flexible:
            body.append("n = buf[pos]")
            body.append("if n < 128: pos += 1")
            body.append("else: n, pos = uvarint(buf, pos)")
            body.append("n -= 1")
            return
        layout = ">h" if kind == "string" else ">i"
        body.append(f"n, = {self._unpacker(layout)}(buf, pos)")
        body.append(f"pos += {2 if kind == 'string' else 4}")
        body.append("if n < -1: raise Malformed('a negative length')")

    def _slice(self, kind: str, target: str, body: list[str]) -> None:
        body.append("stop = pos + n")
        body.append("if stop > end: raise Malformed('a length reaches beyond the message')")
        value = {
            "string": "str(buf[pos:stop], 'utf-8')",
            "bytes": "bytes(buf[pos:stop])",
            "records": "buf[pos:stop]",
        }[kind]
        body.append(f"{target} = {value}")
        body.append("pos = stop")

    def _array(self, item: Field, target: str, body: list[str]) -> None:
        smallest = max(1, self._smallest(item))
        body.append(f"if n * {smallest} > end - pos: raise Malformed('more elements than bytes')")
        body.append(f"left[0] -= n * {self._cost(item)}")
        body.append("if left[0] < 0: raise Malformed('the message would unfold too far')")
        if item.kind in FIXED and item.kind != "uuid":
            code, size = FIXED[item.kind]
            body.append(f"{target} = list(unpack_from('>%d{code}' % n, buf, pos))")
            body.append(f"pos += n * {size}")
            return
        body.append("items = []")
        body.append(f"{target} = items")
        body.append("for _ in range(n):")
        inner: list[str] = []
        if item.kind == "struct":
            assert isinstance(item.item, type)
            inner.append(f"item, pos = {self._reader(item.item)}(buf, pos, end, left)")
        elif item.kind == "uuid":
            inner += ["item = bytes(buf[pos:pos + 16])", "pos += 16"]
            inner.append("if pos > end: raise Malformed('the message ends too early')")
        else:
            self._variable(item, "item", inner)
        inner.append("items.append(item)")
        body += [f"    {line}" for line in inner]

    def _struct(self, field: Field, target: str, is_nullable: bool, body: list[str]) -> None:
        assert isinstance(field.item, type)
        read = f"{target}, pos = {self._reader(field.item)}(buf, pos, end, left)"
        if not is_nullable:
            body.append(read)
            return
        body.append("n = buf[pos]")
        body.append("pos += 1")
        body.append(f"if n == 255: {target} = None")
        body.append("elif n == 1:")
        body.append(f"    {read}")
        body.append("else: raise Malformed('a struct that is neither null nor there')")

    def _default(self, field: Field, body: list[str]) -> None:
        if field.kind == "array" and field.default is not None:
            body.append(f"m.{field.name} = []")
            return
        value = field.default
        if field.kind == "struct" and value is not None:
            assert isinstance(field.item, type)
            value = default_struct(field.item)
        name = f"default_{len(self._names)}_{field.name}"
        self._scope[name] = value
        body.append(f"m.{field.name} = {name}")

    def _tags(self, tagged: list[Field], body: list[str]) -> None:
        body.append("n = buf[pos]")
        body.append("if n == 0: pos += 1")
        body.append("else:")
        inner = ["n, pos = uvarint(buf, pos)"]
        if not tagged:
            inner.append("pos = skip_tags(buf, pos, n)")
        else:
            self._known_tags(tagged, inner)
        body += [f"    {line}" for line in inner]

    def _known_tags(self, tagged: list[Field], body: list[str]) -> None:
        body.append("if n > 1000: raise Malformed('too many tagged fields')")
        body.append("for _ in range(n):")
        body.append("    tag, pos = uvarint(buf, pos)")
        body.append("    size, pos = uvarint(buf, pos)")
        body.append("    after = pos + size")
        body.append("    if after > end: raise Malformed('a tagged field reaches too far')")
        for field in tagged:
            body.append(f"    if tag == {field.tag}:")
            inner: list[str] = []
            self._plain([field], inner)
            inner.append("if pos != after: raise Malformed('a tagged field of another size')")
            body += [f"        {line}" for line in inner]
        body.append("    pos = after")

    def _smallest(self, field: Field) -> int:
        """How few bytes a field can take."""
        if field.kind in FIXED:
            return FIXED[field.kind][1]
        if field.kind != "struct" or field.is_nullable_in(self._version):
            return 1 if self._flexible or field.kind == "struct" else 2
        assert isinstance(field.item, type)
        inner = [f for f in fields_of(field.item) if f.exists_in(self._version)]
        plain = [f for f in inner if not (self._flexible and f.is_tagged_in(self._version))]
        return sum(map(self._smallest, plain)) + int(self._flexible)

    def _cost(self, item: Field) -> int:
        if item.kind in FIXED:
            return 4 * SLOT_BYTES
        if item.kind != "struct":
            return VARIABLE_BYTES
        assert isinstance(item.item, type)
        inner = fields_of(item.item)
        variable = sum(field.kind in ("array", "bytes", "string") for field in inner)
        return OBJECT_BYTES + SLOT_BYTES * len(inner) + VARIABLE_BYTES * variable
