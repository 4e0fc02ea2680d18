"""How a message is declared: one class for all versions, one line for each field.

    @message
    class HeartbeatRequest:
        group_id: str = string()
        generation_id: int = int32()
        group_instance_id: str | None = string(since=3, nullable=True, default=None)

The declarators say what Kafka's message JSON says: in which versions a field exists (`since`,
`until`, both inclusive), from which version it may be null (`nullable`, `nullable_since`), whether
it travels as a tagged field (`tag`, and `tagged_since` if it was an ordinary field before), and
what it is worth when it is absent (`default`). Every field has a default, so a message is built
from the keywords that matter. A struct that is not given is one shared, frozen instance of
defaults: give the message a struct of its own instead of changing that one.

Here are declarations only; `compile.py` turns them into readers and writers, on first use. The
decorator makes no code either: the constructor is generated when a class is first called.
"""

from types import EllipsisType
from typing import Any, Protocol, TypeVar, dataclass_transform

M = TypeVar("M")

_FRESH: Any = object()


class Field:
    """One declared field, or the element of an array."""

    __slots__ = (
        "default",
        "item",
        "kind",
        "name",
        "nullable_since",
        "since",
        "tag",
        "tagged_since",
        "until",
    )

    def __init__(
        self,
        kind: str,
        *,
        item: "Field | type[Any] | None" = None,
        since: int = 0,
        until: int | None = None,
        default: object = None,
        nullable: bool = False,
        nullable_since: int | None = None,
        tag: int | None = None,
        tagged_since: int | None = None,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.item = item
        self.since = since
        self.until = until
        self.default = default
        self.nullable_since = 0 if nullable else nullable_since
        self.tag = tag
        self.tagged_since = since if tagged_since is None else tagged_since

    def exists_in(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)

    def is_nullable_in(self, version: int) -> bool:
        return self.nullable_since is not None and version >= self.nullable_since

    def is_tagged_in(self, version: int) -> bool:
        return self.tag is not None and version >= self.tagged_since


class _Integer(Protocol):
    def __call__(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        default: int = 0,
        tag: int | None = None,
        tagged_since: int | None = None,
    ) -> int: ...


def _integer(kind: str) -> _Integer:
    def declare(*, default: int = 0, **versions: Any) -> Any:
        return Field(kind, default=default, **versions)

    return declare


int8 = _integer("int8")
int16 = _integer("int16")
int32 = _integer("int32")
int64 = _integer("int64")
uint16 = _integer("uint16")
uint32 = _integer("uint32")


def float64(*, default: float = 0.0, **versions: Any) -> Any:
    return Field("float64", default=default, **versions)


def boolean(*, default: bool = False, **versions: Any) -> Any:
    return Field("boolean", default=default, **versions)


def uuid(*, default: bytes = bytes(16), **versions: Any) -> Any:
    """Sixteen raw bytes; all zero means none."""
    return Field("uuid", default=default, **versions)


def string(*, default: str | None = "", **versions: Any) -> Any:
    return Field("string", default=default, **versions)


def bytes_(*, default: bytes | None = b"", **versions: Any) -> Any:
    """Bytes that are copied out of the frame."""
    return Field("bytes", default=default, **versions)


def records(*, default: bytes | None = None, **versions: Any) -> Any:
    """Record batches: read as a view into the frame, written without being copied."""
    return Field("records", default=default, **versions)


def array(item: Any, *, default: EllipsisType | None = ..., **versions: Any) -> Any:
    """Many of `item`, which is a declarator: `array(int32())`, `array(struct(Topic))`.

    Empty when not given, or null with `default=None`.
    """
    return Field("array", item=item, default=_fresh(default), **versions)


def struct(cls: type[Any], *, default: EllipsisType | None = ..., **versions: Any) -> Any:
    """A nested message class: all defaults when not given, or null with `default=None`."""
    return Field("struct", item=cls, default=_fresh(default), **versions)


def _fresh(default: EllipsisType | None) -> object:
    return _FRESH if default is ... else None


@dataclass_transform(kw_only_default=True)
def message(cls: type[M]) -> type[M]:
    """Make a slotted class of the declared fields, with a keyword constructor."""
    namespace = {
        name: value
        for name, value in cls.__dict__.items()
        if name not in ("__dict__", "__weakref__")
    }
    fields = []
    for name, value in list(namespace.items()):
        if isinstance(value, Field):
            value.name = name
            fields.append(value)
            del namespace[name]
    namespace.update(
        __slots__=tuple(field.name for field in fields),
        __fields__=tuple(fields),
        __init__=_first_init,
        __eq__=_equals,
        __hash__=None,
        __repr__=_represent,
    )
    slotted: type[M] = type(cls.__name__, cls.__bases__, namespace)
    return slotted


def fields_of(cls: type[Any]) -> tuple[Field, ...]:
    """The declared fields of a message class, in the order they travel in."""
    fields: tuple[Field, ...] = cls.__fields__
    return fields


def default_value(field: Field) -> object:
    """What a field is worth when it is absent or not given; a list is a new one."""
    if field.default is not _FRESH:
        return field.default
    if field.kind == "array":
        return []
    assert isinstance(field.item, type)
    return default_struct(field.item)


def default_struct(cls: type[M]) -> M:
    """The frozen instance of defaults that stands for every struct of `cls` not given.

    An encoder can see by identity that a tagged struct need not be written.
    """
    shared: M | None = cls.__dict__.get("__default__")
    if shared is None:
        frozen = type(cls.__name__, (cls,), {"__slots__": (), "__module__": cls.__module__})
        shared = frozen()
        frozen.__setattr__ = _refuse_change  # type: ignore[assignment, method-assign] # frozen now
        cls.__default__ = shared  # type: ignore[attr-defined] # kept beside __fields__
    return shared


def _refuse_change(self: object, name: str, value: object) -> None:
    kind = type(self).__name__
    raise AttributeError(f"this {kind} stands for all defaults: make one to set {name!r}")


def _first_init(self: Any, **values: object) -> None:
    """Stand in for the constructor until a class is called for the first time."""
    cls: Any = next(kind for kind in type(self).__mro__ if "__fields__" in kind.__dict__)
    cls.__init__ = _generate_init(cls)
    cls.__init__(self, **values)


def _generate_init(cls: type[Any]) -> Any:
    """Write `def __init__(self, *, a=_a, ...)`; lists are made anew for each instance."""
    scope: dict[str, Any] = {"_FRESH": _FRESH}
    parameters, stores = [], []
    for field in fields_of(cls):
        name = value = field.name
        scope[f"_{name}"] = field.default
        if field.kind == "struct":
            scope[f"_{name}"] = default_value(field)
        elif field.default is _FRESH:
            value = f"[] if {name} is _FRESH else {name}"
        parameters.append(f"{name}=_{name}")
        stores.append(f"    self.{name} = {value}")
    head = f"def __init__(self{', *, ' if parameters else ''}{', '.join(parameters)}):"
    exec("\n".join([head, *(stores or ["    pass"])]), scope)
    return scope["__init__"]


def _equals(self: Any, other: object) -> Any:
    fields: tuple[Field, ...] = self.__fields__
    if getattr(other, "__fields__", None) is not fields:
        return NotImplemented
    return all(getattr(self, field.name) == getattr(other, field.name) for field in fields)


def _represent(self: Any) -> str:
    """Show what differs from the defaults; a default is what a reader would assume."""
    given = (
        f"{field.name}={getattr(self, field.name)!r}"
        for field in self.__fields__
        if getattr(self, field.name) != default_value(field)
    )
    return f"{type(self).__name__}({', '.join(given)})"
