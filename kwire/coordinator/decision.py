"""What a coordinator's state machine decides, as values: it does none of it itself.

A decision names the records to write, the answers to give once they are written, and the timers
to set. Whoever runs the machine carries it out; a test just looks at it.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from kwire.codec.records.control import marker_key, marker_value
from kwire.errors import KwireError
from kwire.tasks import Later

NO_OFFSET = -1
NO_PRODUCER = -1
NO_EPOCH = -1

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
    producer_epoch: int = NO_EPOCH
    is_marker: bool = False
    """Whether this is no record of ours, but says how the producer's transaction ended."""


class TransactionEnd(NamedTuple):
    """What the markers of a transaction say, in each partition that it wrote to."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool


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

    def end_transaction(self, end: TransactionEnd) -> None:
        """Write the marker of a transaction; a decision that does writes nothing else."""
        marker = StoredRecord(
            marker_key(is_abort=not end.is_commit),
            marker_value(end.coordinator_epoch),
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch,
            is_marker=True,
        )
        self.records.append(marker)

    def answer(self, asker: Asker, answer: Any) -> None:
        self.answers.append((asker, answer))

    def start_timer(self, key: TimerKey, delay_ms: int, command: Any) -> None:
        self.timers[key] = Wake(delay_ms, command)

    def stop_timer(self, key: TimerKey) -> None:
        self.timers[key] = None
