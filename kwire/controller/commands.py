"""What the controller can be asked to do, in our own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

USE_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create: by counts (`USE_DEFAULT`: the broker's choice), or replica by replica."""

    name: str
    partition_count: int = USE_DEFAULT
    replication_factor: int = USE_DEFAULT
    assignment: Mapping[int, Sequence[int]] = field(default_factory=dict)
    config: Mapping[str, str | None] = field(default_factory=dict)
    topic_id: bytes | None = None
    """Set when partitions of that id are on disk already; a new one is made otherwise."""
    leader_epoch: int = 0
    """Where leader epochs begin; above all that partitions on disk were written with."""


@dataclass(frozen=True, slots=True)
class MorePartitions:
    """A topic is to have `total_count` partitions; the new ones may be placed by the asker."""

    topic: str
    total_count: int
    assignment: Sequence[Sequence[int]] | None = None


class Operation(IntEnum):
    """What to do with one setting, in the numbers IncrementalAlterConfigs uses."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Setting(NamedTuple):
    operation: Operation
    name: str
    value: str | None


class Scope(IntEnum):
    """Whose settings, in the numbers of Kafka's resource types."""

    TOPIC = 2
    BROKER = 4


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Settings of one topic or broker (the empty name: all brokers).

    With `replaces_all` whatever is not named goes back to its default, as AlterConfigs has it.
    """

    scope: Scope
    name: str
    settings: Sequence[Setting]
    replaces_all: bool = False
