"""What a coordinator's state machine decides, as values: it does none of it itself.

A decision names the records to write, the answers to give once they are written, and the timers
to set. Whoever runs the machine carries it out; a test just looks at it.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from kwire.errors import KwireError
from kwire.tasks import Later

NO_OFFSET = -1
NO_PRODUCER = -1

Asker: TypeAlias = Later[Any]
"""Who waits for an answer: the answer itself, or a `KwireError` that tells why there is none."""

TimerKey: TypeAlias = Hashable


class StoredRecord(NamedTuple):
    """A record of an internal topic. Where it lies is known only once it was written."""

    key: bytes
    value: bytes | None
    offset: int = NO_OFFSET
    producer_id: int = NO_PRODUCER
    """Set while the record belongs to a transaction: it counts when that commits."""


class Wake(NamedTuple):
    """A command that comes by itself, when its time is there."""

    delay_ms: int
    command: Any


@dataclass(slots=True)
class Decision:
    """Grows while a command is decided."""

    records: list[StoredRecord] = field(default_factory=list)
    answers: list[tuple[Asker, Any]] = field(default_factory=list)
    timers: dict[TimerKey, Wake | None] = field(default_factory=dict)
    """Started (again) if there is a `Wake`, stopped if there is none."""
    decides_again: bool = False
    """Whether the same command is decided once more, when the records were applied."""
    if_refused: "Callable[[KwireError], Decision] | None" = None
    """What happens when the log does not take the records; the asker is told in any case."""

    def write(self, key: bytes, value: bytes | None) -> None:
        self.records.append(StoredRecord(key, value))

    def answer(self, asker: Asker, answer: Any) -> None:
        self.answers.append((asker, answer))

    def start_timer(self, key: TimerKey, delay_ms: int, command: Any) -> None:
        self.timers[key] = Wake(delay_ms, command)

    def stop_timer(self, key: TimerKey) -> None:
        self.timers[key] = None
