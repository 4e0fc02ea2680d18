"""Write the source of a decoder: one function that reads one message of one version.

Everything nested is unrolled into that function, as the depth of a message is known. Neighbouring
fields of fixed size are read by one `struct` call, together with the length of whatever follows
them. The names in the generated source:

    b, p, e    the frame, the position in it, its end
    m          what may still be unfolded in memory (see bounds.py)
    o1, a2 ..  objects, arrays, lengths and so on, numbered so that none is used twice
"""

import struct
from typing import Any

from kwire.codec import primitives
from kwire.codec.bounds import (
    FIXED_FORMATS,
    MEMORY_ALLOWANCE,
    element_weight,
    item_of,
    least_size,
    struct_of,
)
from kwire.codec.schema import Field, default_value, fields_of

_BY_HAND = {
    "new": object.__new__,
    "read_uvarint": primitives.read_uvarint,
    "read_text": primitives.read_text,
    "read_bytes": primitives.read_bytes,
    "short_bytes": primitives.SHORT_BYTES,
    "check_tag_count": primitives.check_tag_count,
    "skip_tags": primitives.skip_tags,
    "unpack_from": struct.unpack_from,
    "StructError": struct.error,
    "Malformed": primitives.MalformedMessage,
}


class ReadSource:
    """The growing source of one decoder, and the names it uses."""

    def __init__(self, cls: type[Any], version: int, flexible: bool, memory_ratio: int) -> None:
        self.scope: dict[str, Any] = dict(_BY_HAND)
        self._version = version
        self._flexible = flexible
        self._title = f"{cls.__name__} v{version}"
        self._lines: list[str] = []
        self._depth = 0
        self._run: list[tuple[str, str]] = []
        self._count = 0
        self._write("def decode(b, p):")
        self._depth = 1
        self._write("try:")
        self._depth = 2
        self._write("e = len(b)")
        self._write(f"m = e * {memory_ratio} + {MEMORY_ALLOWANCE}")
        made = self._struct(cls)
        self._flush()
        self._write(f"return {made}, p")
        self._depth = 1
        self._write("except (IndexError, StructError) as why:")
        self._write(f"    raise Malformed('{self._title} ends too early') from why")

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _write(self, line: str) -> None:
        self._lines.append(" " * self._depth + line)

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _constant(self, value: object) -> str:
        name = self._name("C")
        self.scope[name] = value
        return name

    def _refuse(self, condition: str, what: str) -> None:
        self._write(f"if {condition}: raise Malformed({f'{self._title}: {what}'!r})")

    def _read(self, target: str, format_: str) -> None:
        """Read something of fixed size into `target`, soon: at the next flush."""
        self._run.append((target, format_))

    def _flush(self) -> None:
        """Read what is due in one call."""
        run, self._run = self._run, []
        if not run:
            return
        formats = "".join(format_ for _, format_ in run)
        if formats == "B":
            self._write(f"{run[0][0]} = b[p]")
            self._write("p += 1")
            return
        layout = struct.Struct(">" + formats)
        reader = self._constant(layout.unpack_from)
        targets = ", ".join(target for target, _ in run)
        self._write(f"{targets}, = {reader}(b, p)")
        self._write(f"p += {layout.size}")

    def _length(self, format_: str) -> str:
        """Read a length, or -1 and below for null, and give its name."""
        name = self._name("n")
        self._read(name, "B" if self._flexible else format_)
        self._flush()
        if self._flexible:
            self._write(f"if {name} > 127: {name}, p = read_uvarint(b, p - 1)")
            self._write(f"{name} -= 1")
        return name

    def _struct(self, cls: type[Any]) -> str:
        made = self._name("o")
        self._write(f"{made} = new({self._constant(cls)})")
        tagged = []
        for field in fields_of(cls):
            target = f"{made}.{field.name}"
            if not field.exists_in(self._version):
                self._absent(field, target)
            elif field.is_tagged_in(self._version):
                self._absent(field, target)
                tagged.append((field, target))
            else:
                self._value(field, target)
        if self._flexible:
            self._tags(tagged)
        return made

    def _absent(self, field: Field, target: str) -> None:
        if field.kind == "array" and field.default is not None:
            self._write(f"{target} = []")
        else:
            value = default_value(field)
            plain = value is None or isinstance(value, bool | int | str)
            self._write(f"{target} = {repr(value) if plain else self._constant(value)}")

    def _value(self, field: Field, target: str) -> None:
        if field.kind in FIXED_FORMATS:
            self._read(target, FIXED_FORMATS[field.kind])
        elif field.kind == "struct":
            self._nested(field, target)
        elif field.kind == "array":
            self._array(field, target)
        else:
            self._bytes(field, target)

    def _nested(self, field: Field, target: str) -> None:
        if not field.is_nullable_in(self._version):
            self._write(f"{target} = {self._struct(struct_of(field))}")
            return
        presence = self._name("n")
        self._read(presence, "b")
        self._flush()
        # A tagged struct says with a varint whether it is there, any other one with a signed byte.
        last_null = 0 if field.is_tagged_in(self._version) else -1
        self._write(f"if {presence} <= {last_null}: {target} = None")
        self._write("else:")
        self._depth += 1
        made = self._struct(struct_of(field))
        self._flush()
        self._write(f"{target} = {made}")
        self._depth -= 1

    def _null_or(self, field: Field, length: str, target: str) -> str:
        """Deal with a null; give the keyword that the other case begins with."""
        if field.is_nullable_in(self._version):
            self._write(f"if {length} < 0: {target} = None")
            return "elif"
        self._refuse(f"{length} < 0", f"{field.name or 'an element'} is null")
        return "if"

    def _bytes(self, field: Field, target: str) -> None:
        length = self._length("h" if field.kind == "string" else "i")
        keyword = self._null_or(field, length, target)
        if field.kind == "records":
            self._write(
                f"{keyword} {length} > e - p: raise Malformed('{self._title}: cut records')"
            )
            self._write("else:")
            self._write(f" {target} = b[p : p + {length}]")
            self._write(f" p += {length}")
            return
        finish = ".decode('utf-8', 'replace')" if field.kind == "string" else ""
        read = "read_text" if field.kind == "string" else "read_bytes"
        self._write(f"{keyword} {length} < 128:")
        self._write(f" {target} = short_bytes[{length}](b, p)[0]{finish}")
        self._write(f" p += {length}")
        self._write("else:")
        self._write(f" {target} = {read}(b, p, {length})")
        self._write(f" p += {length}")

    def _array(self, field: Field, target: str) -> None:
        item = item_of(field)
        length = self._length("i")
        keyword = self._null_or(field, length, target)
        self._write("else:" if keyword == "elif" else "if True:")
        self._depth += 1
        size = max(1, least_size(item, self._version, self._flexible))
        self._write(f"m -= {length} * {element_weight(item)}")
        self._refuse(f"{length} * {size} > e - p or m < 0", f"too many {field.name}")
        if item.kind in FIXED_FORMATS and item.kind != "uuid":
            self._numbers(FIXED_FORMATS[item.kind], length, target)
            self._write(f"p += {length} * {size}")
        else:
            self._elements(item, length, target)
        self._depth -= 1

    def _numbers(self, format_: str, length: str, target: str) -> None:
        layouts = primitives.short_layouts(format_)
        short = self._constant(tuple(layout.unpack_from for layout in layouts))
        self._write(
            f"{target} = list({short}[{length}](b, p) if {length} < {primitives.SHORT_ARRAY}"
            f" else unpack_from('>%d{format_}' % {length}, b, p))"
        )

    def _elements(self, item: Field, length: str, target: str) -> None:
        array = self._name("a")
        self._write(f"{target} = {array} = []")
        self._write(f"for _ in range({length}):")
        self._depth += 1
        if item.kind == "struct" and not item.is_nullable_in(self._version):
            element = self._struct(struct_of(item))
        else:
            element = self._name("v")
            self._value(item, element)
        self._flush()
        self._write(f"{array}.append({element})")
        self._depth -= 1

    def _tags(self, tagged: list[tuple[Field, str]]) -> None:
        if not tagged and not self._run:
            self._write("p = skip_tags(b, p) if b[p] else p + 1")
            return
        count = self._name("n")
        self._read(count, "B")
        self._flush()
        if not tagged:
            self._write(f"if {count}: p = skip_tags(b, p - 1)")
            return
        tag, size, end = self._name("t"), self._name("z"), self._name("q")
        self._write(f"if {count}:")
        self._depth += 1
        self._write(f"if {count} > 127: {count}, p = read_uvarint(b, p - 1)")
        self._write(f"check_tag_count({count}, e - p)")
        self._write(f"for _ in range({count}):")
        self._depth += 1
        self._write(f"{tag}, p = read_uvarint(b, p)")
        self._write(f"{size}, p = read_uvarint(b, p)")
        self._write(f"{end} = p + {size}")
        self._refuse(f"{end} > e", "a tagged field is cut")
        for field, target in tagged:
            self._write(f"if {tag} == {field.tag}:")
            self._depth += 1
            self._value(field, target)
            self._flush()
            self._refuse(f"p != {end}", f"{field.name} has another size than it says")
            self._write("continue")
            self._depth -= 1
        self._write(f"p = {end}")
        self._depth -= 2
