"""What `kwire dump-log` finds in a file: entries in the words of Kafka's own dump tool, or damage.

The readers here share no code with the log's own, save for the header of a batch and its records:
a tool that looks for damage must not overlook what a broker is able to live with.
"""

from collections.abc import Iterator
from typing import NamedTuple

Value = str | int | bool | dict[str, str] | list[str] | None


class Entry(NamedTuple):
    """One thing in a file. `kind` tells what it is, `fields` all that is to be told of it."""

    kind: str
    fields: dict[str, Value]


class Damage(NamedTuple):
    """Bytes that cannot be right: where, the offset they are about if known, and why."""

    position: int
    offset: int | None
    problem: str


Found = Iterator[Entry | Damage]
