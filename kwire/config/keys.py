"""What a configuration key is: name, parser, default, doc, and the names it is known by elsewhere.

A group of keys is a class decorated with `settings`: each attribute is declared by `key(...)`,
which is at once the typed attribute, the parser's entry, the reference page and what
DescribeConfigs tells.
Texts of refusals are Kafka's, since people search for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, TypeVar, cast, dataclass_transform

from kwire.errors import InvalidConfig

KIB = 1024
MIB = 1024 * KIB
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

T = TypeVar("T")
C = TypeVar("C")


class ConfigType(IntEnum):
    """The numbers DescribeConfigs uses for types."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


@dataclass(frozen=True, slots=True)
class Parser(Generic[T]):
    """How a value is read from text and shown again. `read` raises ValueError with the reason."""

    type: ConfigType
    read: Callable[[str], T]
    show: Callable[[T], str]
    valid: str = ""


@dataclass(frozen=True, slots=True)
class Fallback:
    """Another broker key that is used while the first is not set, perhaps in a coarser unit."""

    name: str
    unit_ms: int = 1
    default: int | None = None
    at_least: int | None = None


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """One key. `broker_name` and `fallbacks` say which broker keys give a topic key its default."""

    name: str
    parser: Parser[T]
    default: T
    doc: str
    importance: str = "medium"
    broker_name: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    dynamic: bool = False
    sensitive: bool = False

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    def parse(self, text: str) -> T:
        try:
            return self.parser.read(text.strip())
        except _OutOfBounds as refused:
            raise invalid_value(self.name, refused.value, refused.reason) from None
        except ValueError as refused:
            raise invalid_value(self.name, text, str(refused)) from None

    def show(self, value: T | None) -> str | None:
        """The text of a value, as it would stand in a file; null stays null."""
        return None if value is None else self.parser.show(value)


def key(
    name: str,
    parser: Parser[T],
    *,
    default: T,
    doc: str,
    importance: str = "medium",
    broker_name: str | None = None,
    fallbacks: tuple[Fallback, ...] = (),
    dynamic: bool = False,
) -> T:
    """Declare one key as an attribute of a class decorated with `settings`."""
    declared = Key(
        name, parser, default, " ".join(doc.split()), importance, broker_name, fallbacks, dynamic
    )
    return cast(T, declared)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key,))
def settings(cls: type[C]) -> type[C]:
    """Make a frozen, slotted dataclass of a class whose attributes are declared by `key`.

    The declarations stay readable under `keys_of(cls)`.
    """
    declared: dict[str, Key[Any]] = {}
    for attribute, value in list(vars(cls).items()):
        if isinstance(value, Key):
            assert attribute == value.attribute, f"{attribute} declares {value.name}"
            declared[value.name] = value
            setattr(cls, attribute, _field(value.default))
    made = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    setattr(made, "KEYS", declared)  # noqa: B010  # a class made by slots=True takes it only now
    return made


def _field(default: object) -> object:
    """A dataclass field; what is not hashable may only be a default by way of a factory."""
    if type(default).__hash__ is None:
        return field(default_factory=lambda: default)
    return field(default=default)


def keys_of(cls: type) -> Mapping[str, Key[Any]]:
    """Every key that a settings class declares, by its name, in the order of declaration."""
    return cast(Mapping[str, Key[Any]], getattr(cls, "KEYS"))  # noqa: B009


def invalid_value(name: str, value: object, reason: str) -> InvalidConfig:
    return InvalidConfig(f"Invalid value {value} for configuration {name}: {reason}")


class _OutOfBounds(ValueError):
    """A number that was read, but is not allowed; the refusal shows the number, not the text."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(reason)
        self.value = value
        self.reason = reason


def int_in(at_least: int | None = None, at_most: int | None = None) -> Parser[int]:
    """A 32-bit integer."""
    return _whole(ConfigType.INT, -(2**31), INT_MAX, at_least, at_most)


def long_in(at_least: int | None = None, at_most: int | None = None) -> Parser[int]:
    """A 64-bit integer."""
    return _whole(ConfigType.LONG, -(2**63), LONG_MAX, at_least, at_most)


def _whole(
    type_: ConfigType, lowest: int, highest: int, at_least: int | None, at_most: int | None
) -> Parser[int]:
    def read(text: str) -> int:
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 32:
            raise ValueError(f"Not a number of type {type_.name}")
        value = int(text)
        if not lowest <= value <= highest:
            raise ValueError(f"Not a number of type {type_.name}")
        _check_bounds(value, at_least, at_most)
        return value

    return Parser(type_, read, str, _bounds_text(at_least, at_most))


def double_in(at_least: float | None = None, at_most: float | None = None) -> Parser[float]:
    def read(text: str) -> float:
        try:
            value = float(text.replace("_", "?"))
        except ValueError:
            raise ValueError("Not a number of type DOUBLE") from None
        if value != value:
            raise ValueError("Not a number of type DOUBLE")
        _check_bounds(value, at_least, at_most)
        return value

    return Parser(ConfigType.DOUBLE, read, _show_double, _bounds_text(at_least, at_most))


def _show_double(value: float) -> str:
    """As Java writes it: 1.7976931348623157E308."""
    return repr(float(value)).replace("e+", "E").replace("e", "E")


def _check_bounds(value: float, at_least: float | None, at_most: float | None) -> None:
    if at_least is not None and value < at_least:
        raise _OutOfBounds(value, f"Value must be at least {at_least}")
    if at_most is not None and value > at_most:
        raise _OutOfBounds(value, f"Value must be no more than {at_most}")


def _bounds_text(at_least: float | None, at_most: float | None) -> str:
    if at_least is None and at_most is None:
        return ""
    low = "..." if at_least is None else f"{at_least},..."
    return f"[{low}]" if at_most is None else f"[{low},{at_most}]"


def boolean() -> Parser[bool]:
    def read(text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("Expected value to be either true or false")
        return text.lower() == "true"

    return Parser(ConfigType.BOOLEAN, read, lambda value: str(value).lower())


def always_off(why: str) -> Parser[bool]:
    """A switch that Kafka has and kwire has not: it may only be told that it is off."""
    plain = boolean()

    def read(text: str) -> bool:
        if plain.read(text):
            raise ValueError(f"not supported by kwire: {why}")
        return False

    return Parser(ConfigType.BOOLEAN, read, plain.show, "[false]")


def text() -> Parser[str]:
    return Parser(ConfigType.STRING, lambda value: value, str)


def optional_text() -> Parser[str | None]:
    return Parser(ConfigType.STRING, lambda value: value or None, str)


def one_of(*allowed: str) -> Parser[str]:
    def read(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"String must be one of: {', '.join(allowed)}")
        return value

    return Parser(ConfigType.STRING, read, str, f"[{', '.join(allowed)}]")


def set_of(*allowed: str) -> Parser[frozenset[str]]:
    """A comma separated list without repetitions; empty is a value too."""

    def read(value: str) -> frozenset[str]:
        items = split_list(value)
        for item in items:
            if item not in allowed:
                raise _OutOfBounds(item, f"String must be one of: {', '.join(allowed)}")
        if len(set(items)) != len(items):
            raise ValueError("values must not be duplicated.")
        return frozenset(items)

    return Parser(
        ConfigType.LIST, read, lambda items: ",".join(sorted(items)), f"[{', '.join(allowed)}]"
    )


def split_list(value: str) -> list[str]:
    """The items of a comma separated list, without the space around them."""
    stripped = value.strip()
    return [item.strip() for item in stripped.split(",")] if stripped else []
