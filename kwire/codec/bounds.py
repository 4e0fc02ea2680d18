"""What one declared field weighs: the fewest bytes it takes on the wire, the most in memory.

Two bytes on the wire can become an object of a hundred bytes, so an array is refused, before
anything of it is made, unless its elements could fit in the bytes that remain *and* what they
would weigh in memory fits in what the frame may still unfold to:

    MEMORY_RATIO * size of the frame + MEMORY_ALLOWANCE

The allowance lets small frames be dense (a Fetch of 30,000 partitions is one honest megabyte);
the ratio keeps a hostile frame of 100 MB near twice its size. Texts and bytes come on top with
their own length, which is at most four bytes in memory for each on the wire. The weights are
estimates for a 64-bit CPython, on the heavy side: small numbers, for example, cost nothing.
"""

from kwire.codec.schema import Field, fields_of

MEMORY_RATIO = 2
MEMORY_ALLOWANCE = 8 * 1024 * 1024

FIXED_FORMATS = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "float64": "d",
    "boolean": "?",
    "uuid": "16s",
}
"""Kinds of one size, and how `struct` spells them."""

_FIXED_SIZES = {
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint16": 2,
    "uint32": 4,
    "float64": 8,
    "boolean": 1,
    "uuid": 16,
}
_LENGTH_SIZES = {"string": 2, "bytes": 4, "records": 4, "array": 4}

_WEIGHTS = {
    **dict.fromkeys(FIXED_FORMATS, 32),
    "boolean": 0,
    "uuid": 56,
    "string": 64,
    "bytes": 48,
    "records": 208,
    "array": 72,
}
_OBJECT_WEIGHT = 32
_SLOT_WEIGHT = 8
_ELEMENT_WEIGHT = 24
"""The pointer in a growing list, and in the tuple it may come from."""


def least_size(field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes this field can take on the wire."""
    if field.kind in _FIXED_SIZES:
        return _FIXED_SIZES[field.kind]
    if field.kind != "struct":
        return 1 if flexible else _LENGTH_SIZES[field.kind]
    if field.is_nullable_in(version):
        return 1
    inner = (
        least_size(part, version, flexible)
        for part in fields_of(struct_of(field))
        if part.exists_in(version) and not part.is_tagged_in(version)
    )
    return sum(inner) + (1 if flexible else 0)


def element_weight(item: Field) -> int:
    """The bytes one element of an array may take in memory, without its own arrays' elements."""
    return _ELEMENT_WEIGHT + _weight(item)


def _weight(field: Field) -> int:
    if field.kind != "struct":
        return _WEIGHTS[field.kind]
    parts = fields_of(struct_of(field))
    return _OBJECT_WEIGHT + sum(_SLOT_WEIGHT + _weight(part) for part in parts)


def struct_of(field: Field) -> type:
    """The message class a struct field holds."""
    assert isinstance(field.item, type)
    return field.item


def item_of(field: Field) -> Field:
    """The declaration of an array's elements."""
    assert isinstance(field.item, Field)
    return field.item
