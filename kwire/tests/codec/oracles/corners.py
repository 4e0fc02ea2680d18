"""Corner messages: what made-up values may miss by chance, built on purpose from declarations.

That a declaration knows every null and every tagged field is for test_declarations.py to show.
"""

from typing import Any

from kwire.codec.schema import Field, fields_of
from kwire.tests.codec.oracles.plain import Plain

# None of these is a default of a tagged field, so each of them is written.
SOMETHING: dict[str, Any] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint16"), 1),
    "boolean": True,
    "string": "x",
    "bytes": b"y",
    "records": b"z",
    "uuid": bytes(range(16)),
}


def corners(cls: type[Any], version: int) -> list[Plain]:
    """Give three messages: nothing is null, every leaf that may be is, all that may be is.

    Each array that is not null has one item, and each tagged field differs from its default.
    """
    return [
        _message(cls, version, null_leaves=False, null_branches=False),
        _message(cls, version, null_leaves=True, null_branches=False),
        _message(cls, version, null_leaves=True, null_branches=True),
    ]


def _message(cls: type[Any], version: int, **nulls: bool) -> Plain:
    return {
        field.name: _value(field, version, **nulls)
        for field in fields_of(cls)
        if field.exists_in(version)
    }


def _value(field: Field, version: int, **nulls: bool) -> Any:
    """A leaf holds no other field; a branch is a struct, or an array of structs."""
    item = field.item if isinstance(field.item, Field) else field
    is_branch = item.kind == "struct"
    if field.is_nullable_in(version) and nulls["null_branches" if is_branch else "null_leaves"]:
        return None
    if isinstance(item.item, type):
        one: Any = _message(item.item, version, **nulls)
    else:
        one = SOMETHING[item.kind]
    return [one] if field.kind == "array" else one
