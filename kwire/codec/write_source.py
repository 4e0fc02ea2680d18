"""Write the source of an encoder: one function that writes one message of one version.

The pieces of a message are gathered in a list and joined once; neighbouring fields of fixed size
are one `struct` call. Only records, unless they are short, stay as they are: the pieces before them
are joined, and they follow as a buffer of their own, without being copied. The names in the
generated source:

    out    the finished buffers
    w      the pieces not yet joined
    x1 ..  values, numbered so that none is used twice
"""

import struct
from typing import Any

from kwire.codec import primitives
from kwire.codec.bounds import FIXED_FORMATS, item_of, struct_of
from kwire.codec.schema import Field, default_value, fields_of

COPY_BELOW_BYTES = 4096
"""Records shorter than this are copied: that is cheaper than a buffer more on the way out.

Unless they are not in memory at all: a broker answers with slices of files, which have a length.
"""

_BY_HAND = {
    "small": primitives.SMALL,
    "uvarint": primitives.encode_uvarint,
    "long_text": primitives.encode_text,
    "pack": struct.pack,
    "join": b"".join,
    "in_memory": frozenset({bytes, bytearray, memoryview}),
}


class WriteSource:
    """The growing source of one encoder, and the names it uses."""

    def __init__(self, cls: type[Any], version: int, flexible: bool) -> None:
        self.scope: dict[str, Any] = dict(_BY_HAND)
        self._version = version
        self._flexible = flexible
        self._lines: list[str] = []
        self._depth = 1
        self._run: list[tuple[str, str]] = []
        self._pieces: list[str] = []
        self._count = 0
        self._lines.append("def encode(x0):")
        self._write("out = []")
        self._write("w = []")
        self._struct(cls, "x0")
        self._flush()
        self._write("if w: out.append(join(w))")
        self._write("return out")

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _write(self, line: str) -> None:
        self._lines.append(" " * self._depth + line)

    def _name(self) -> str:
        self._count += 1
        return f"x{self._count}"

    def _constant(self, value: object) -> str:
        self._count += 1
        name = f"C{self._count}"
        self.scope[name] = value
        return name

    def _pack(self, format_: str, value: str | None = None) -> None:
        """Add something of fixed size; `x` without a value is a zero byte."""
        self._run.append((format_, value or ""))

    def _piece(self, expression: str) -> None:
        """Add an expression for bytes, evaluated at the next flush."""
        self._end_run()
        self._pieces.append(expression)

    def _end_run(self) -> None:
        run, self._run = self._run, []
        if not run:
            return
        values = [value for _, value in run if value]
        formats = "".join(format_ for format_, _ in run)
        if values:
            writer = self._constant(struct.Struct(">" + formats).pack)
            self._pieces.append(f"{writer}({', '.join(values)})")
        else:
            self._pieces.append(repr(bytes(len(formats))))

    def _flush(self) -> None:
        """Write out what is due, in one statement."""
        self._end_run()
        pieces, self._pieces = self._pieces, []
        if len(pieces) == 1:
            self._write(f"w.append({pieces[0]})")
        elif pieces:
            self._write(f"w += {', '.join(pieces)}")

    def _length(self, format_: str, length: str) -> None:
        """Add the length whose *name* is given; flexible versions count from one."""
        if not self._flexible:
            self._pack(format_, length)
            return
        self._piece(f"(small[{length} + 1] if {length} < 127 else uvarint({length} + 1))")

    def _null(self, format_: str) -> str:
        """The bytes that stand for null."""
        return repr(b"\0" if self._flexible else struct.pack(">" + format_, -1))

    def _struct(self, cls: type[Any], source: str) -> None:
        tagged = []
        for field in fields_of(cls):
            if not field.exists_in(self._version):
                continue
            if field.is_tagged_in(self._version):
                tagged.append(field)
            else:
                self._value(field, f"{source}.{field.name}")
        if self._flexible:
            self._tags(sorted(tagged, key=lambda field: field.tag or 0), source)

    def _value(self, field: Field, source: str) -> None:
        if field.kind in FIXED_FORMATS:
            self._pack(FIXED_FORMATS[field.kind], source)
            return
        value = self._name()
        self._write(f"{value} = {source}")
        write = {
            "string": self._text,
            "bytes": self._bytes,
            "records": self._records,
            "array": self._array,
            "struct": self._nested,
        }[field.kind]
        write(field, value)

    def _text(self, field: Field, value: str) -> None:
        if field.is_nullable_in(self._version):
            self._nullable_text(value)
            return
        length = self._encoded(value)
        self._length("h", length)
        self._piece(value)

    def _encoded(self, value: str) -> str:
        length = self._name()
        self._write(f"{value} = {value}.encode() if len({value}) < 8192 else long_text({value})")
        self._write(f"{length} = len({value})")
        return length

    def _nullable_text(self, value: str) -> None:
        """Make one piece of length and text, so that a null needs no branch of its own."""
        self._write(f"if {value} is None: {value} = {self._null('h')}")
        self._write("else:")
        self._depth += 1
        length = self._encoded(value)
        if self._flexible:
            shown = f"(small[{length} + 1] if {length} < 127 else uvarint({length} + 1))"
        else:
            shown = f"pack('>h', {length})"
        self._write(f"{value} = {shown} + {value}")
        self._depth -= 1
        self._piece(value)

    def _begin_else(self, field: Field, value: str, null: str) -> None:
        """Write a null if there may be one; what follows is written only for other values."""
        self._flush()
        if not field.is_nullable_in(self._version):
            self._write("if True:")
        else:
            self._write(f"if {value} is None: w.append({null})")
            self._write("else:")
        self._depth += 1

    def _end_else(self) -> None:
        self._flush()
        self._depth -= 1

    def _bytes(self, field: Field, value: str) -> None:
        self._begin_else(field, value, self._null("i"))
        length = self._name()
        self._write(f"{length} = len({value})")
        self._length("i", length)
        self._piece(value)
        self._end_else()

    def _records(self, field: Field, value: str) -> None:
        self._begin_else(field, value, self._null("i"))
        length = self._name()
        self._write(f"{length} = len({value})")
        self._length("i", length)
        self._flush()
        is_short = f"{length} < {COPY_BELOW_BYTES} and type({value}) in in_memory"
        self._write(f"if {is_short}: w.append({value})")
        self._write("else:")
        self._write(" out.append(join(w))")
        self._write(f" out.append({value})")
        self._write(" w.clear()")
        self._end_else()

    def _nested(self, field: Field, value: str) -> None:
        if not field.is_nullable_in(self._version):
            self._struct(struct_of(field), value)
            return
        # A tagged struct says with a varint whether it is there, any other one with a signed byte.
        null = b"\x00" if field.is_tagged_in(self._version) else b"\xff"
        self._begin_else(field, value, repr(null))
        self._piece(repr(b"\x01"))
        self._struct(struct_of(field), value)
        self._end_else()

    def _array(self, field: Field, value: str) -> None:
        nullable = field.is_nullable_in(self._version)
        if nullable:
            self._begin_else(field, value, self._null("i"))
        length = self._name()
        self._write(f"{length} = len({value})")
        self._length("i", length)
        self._elements(item_of(field), value, length)
        if nullable:
            self._end_else()

    def _elements(self, item: Field, value: str, length: str) -> None:
        if item.kind in FIXED_FORMATS and item.kind != "uuid":
            format_ = FIXED_FORMATS[item.kind]
            layouts = primitives.short_layouts(format_)
            short = self._constant(tuple(layout.pack for layout in layouts))
            self._piece(
                f"({short}[{length}](*{value}) if {length} < {primitives.SHORT_ARRAY}"
                f" else pack('>%d{format_}' % {length}, *{value}))"
            )
            return
        self._flush()
        element = self._name()
        self._write(f"for {element} in {value}:")
        self._depth += 1
        if item.kind == "struct" and not item.is_nullable_in(self._version):
            self._struct(struct_of(item), element)
        else:
            self._value(item, element)
        self._flush()
        self._write("pass")
        self._depth -= 1

    def _tags(self, tagged: list[Field], source: str) -> None:
        if not tagged:
            self._pack("x")
            return
        absent = " and ".join(self._is_default(field, f"{source}.{field.name}") for field in tagged)
        self._flush()
        self._write(f"if {absent}: w.append(b'\\0')")
        self._write("else:")
        self._depth += 1
        outer, count = self._name(), self._name()
        self._write(f"{outer} = w")
        self._write(f"{count} = []")
        for field in tagged:
            self._tag(field, f"{source}.{field.name}", count)
        self._write(f"w = {outer}")
        self._write(f"w += uvarint(len({count}) // 3), *{count}")
        self._depth -= 1

    def _tag(self, field: Field, source: str, gathered: str) -> None:
        """Gather a tagged field as its tag, its size and its bytes, unless it is its default."""
        assert field.kind != "records"
        assert field.tag is not None
        self._write(f"if not ({self._is_default(field, source)}):")
        self._depth += 1
        self._write("w = []")
        self._value(field, source)
        self._flush()
        body = self._name()
        self._write(f"{body} = join(w)")
        self._write(
            f"{gathered} += {primitives.encode_uvarint(field.tag)!r}, uvarint(len({body})), {body}"
        )
        self._depth -= 1

    def _is_default(self, field: Field, source: str) -> str:
        if field.kind == "array" and field.default is not None:
            return f"{source} == []"
        value = default_value(field)
        if value is None:
            return f"{source} is None"
        if field.kind != "struct":
            return f"{source} == {repr(value) if isinstance(value, int) else self._constant(value)}"
        shared = self._constant(value)
        return f"({source} is {shared} or {source} == {shared})"
