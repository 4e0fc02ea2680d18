"""The source of an encoder: `write_<n>(m, add, parts, done)` for each class in it.

Small pieces are collected in `parts`; records are put into `done` as they are, behind the pieces
before them joined into one buffer.
"""

import struct
from collections.abc import Callable
from typing import Any

from kwire.codec.primitives import write_uvarint
from kwire.codec.read_source import FIXED
from kwire.codec.schema import Field, default_struct, fields_of

_ONE_BYTE = tuple(bytes([value]) for value in range(128))


def _varint(value: int) -> bytes:
    return _ONE_BYTE[value] if value < 128 else write_uvarint(value)


class WriteSource:
    def __init__(self, version: int, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._lines: list[str] = []
        self._names: dict[type[Any], str] = {}
        self._depth = 0
        self._scope: dict[str, Any] = {"varint": _varint, "pack": struct.pack, "one": _ONE_BYTE}

    def compile(self, cls: type[Any]) -> Callable[..., None]:
        name = self._writer(cls)
        exec("\n".join(self._lines), self._scope)
        write: Callable[..., None] = self._scope[name]
        return write

    def _writer(self, cls: type[Any]) -> str:
        if cls in self._names:
            return self._names[cls]
        body: list[str] = []
        present = [field for field in fields_of(cls) if field.exists_in(self._version)]
        plain = [f for f in present if not (self._flexible and f.is_tagged_in(self._version))]
        tagged = [f for f in present if f not in plain and f.tag is not None]
        self._plain(plain, body)
        if self._flexible:
            self._tags(tagged, body)
        name = f"write_{len(self._names)}"
        self._names[cls] = name
        self._lines.append(f"def {name}(m, add, parts, done):")
        self._lines += [f"    {line}" for line in body or ["pass"]]
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
        if run:
            layout = ">" + "".join(FIXED[field.kind][0] for field in run)
            values = ", ".join(f"m.{field.name}" for field in run)
            body.append(f"add({self._packer(layout)}({values}))")

    def _packer(self, layout: str) -> str:
        name = "pack_" + layout[1:].replace("?", "B_")
        self._scope[name] = struct.Struct(layout).pack
        return name

    def _variable(self, field: Field, value: str, body: list[str]) -> None:
        is_nullable = field.is_nullable_in(self._version)
        inner: list[str] = []
        body.append(f"v = {value}")
        if field.kind == "struct":
            assert isinstance(field.item, type)
            if is_nullable:
                inner.append("add(b'\\x01')")
            inner.append(f"{self._writer(field.item)}(v, add, parts, done)")
        elif field.kind == "array":
            assert isinstance(field.item, Field)
            self._array(field.item, inner)
        else:
            self._bytes(field.kind, inner)
        if is_nullable:
            body.append(f"if v is None: add({self._null(field.kind)!r})")
            body.append("else:")
            inner = [f"    {line}" for line in inner]
        body += inner

    def _null(self, kind: str) -> bytes:
        if kind == "struct":
            return b"\xff"
        if self._flexible:
            return b"\x00"
        return b"\xff\xff" if kind == "string" else b"\xff\xff\xff\xff"

    def _count(self, value: str, kind: str) -> str:
        if self._flexible:
            return f"add(varint({value} + 1))"
        return f"add({self._packer('>h' if kind == 'string' else '>i')}({value}))"

    def _bytes(self, kind: str, body: list[str]) -> None:
        if kind == "string":
            body.append("v = v.encode()")
        body.append(self._count("len(v)", kind))
        if kind == "records":
            body.append("if len(v):")
            body.append("    done.append(b''.join(parts)); parts.clear(); done.append(v)")
        else:
            body.append("add(v)")

    def _array(self, item: Field, body: list[str]) -> None:
        body.append(self._count("len(v)", "array"))
        if item.kind in FIXED and item.kind != "uuid":
            body.append(f"add(pack('>%d{FIXED[item.kind][0]}' % len(v), *v))")
        elif item.kind == "uuid":
            body.append("for item in v: add(item)")
        elif item.kind == "struct" and not item.is_nullable_in(self._version):
            assert isinstance(item.item, type)
            body.append(f"for item in v: {self._writer(item.item)}(item, add, parts, done)")
        else:
            self._depth += 1
            element = f"item_{self._depth}"
            body.append(f"for {element} in v:")
            inner: list[str] = []
            self._variable(item, element, inner)
            body += [f"    {line}" for line in inner]

    def _tags(self, tagged: list[Field], body: list[str]) -> None:
        """Only what differs from its default travels, in the order of the tags."""
        if not tagged:
            body.append("add(b'\\x00')")
            return
        body.append("tags = []")
        for field in sorted(tagged, key=lambda field: field.tag or 0):
            default = f"default_{len(self._names)}_{field.name}"
            self._scope[default] = self._default(field)
            body.append(f"v = m.{field.name}")
            body.append(f"if v is not {default} and v != {default}:")
            inner = ["held = parts[:]; parts.clear()"]
            self._plain([field], inner)
            inner.append(f"tags.append(({field.tag}, b''.join(parts)))")
            inner.append("parts[:] = held")
            body += [f"    {line}" for line in inner]
        body.append("add(varint(len(tags)))")
        body.append("for tag, data in tags:")
        body.append("    add(varint(tag)); add(varint(len(data))); add(data)")

    def _default(self, field: Field) -> object:
        if field.kind == "array" and field.default is not None:
            return []
        if field.kind == "struct" and field.default is not None:
            assert isinstance(field.item, type)
            return default_struct(field.item)
        return field.default
