"""What members told, put together: who owned what and when, what was read, what was committed.

All of them run on one machine, so their clocks agree. An owner starts with the callback that gives
it a partition and ends when it gives it back, leaves, or dies; it hands over before the next one
starts, unless it was expelled and could not know.
"""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from compat_tests.crash.ledger import Broken

FOR_EVER = float("inf")


class Spell(NamedTuple):
    """A while in which one member owned one partition."""

    start_ms: float
    end_ms: float
    member: str
    was_lost: bool


class Tales:
    def __init__(self, partitions: int) -> None:
        self.spells: list[list[Spell]] = [[] for _ in range(partitions)]
        self.committed = [0] * partitions
        """The furthest offset that any member was told is committed."""
        self.strange_lines: list[str] = []
        self._reads: list[list[tuple[int, int]]] = [[] for _ in range(partitions)]
        self._owned: dict[str, dict[int, float]] = {}

    def hear(self, member: str, line: str) -> None:
        """One line of one life of a member; `member` names that life."""
        try:
            event = json.loads(line)
            name, at_ms = event["name"], float(event["timestamp"])
        except (ValueError, KeyError, TypeError):
            self.strange_lines.append(f"{member}: {line}")
            return
        if name == "partitions_assigned":
            owned = self._owned.setdefault(member, {})
            owned.update(dict.fromkeys(_partitions(event), at_ms))
        elif name in ("partitions_revoked", "partitions_lost"):
            self._end(member, _partitions(event), at_ms, was_lost=name == "partitions_lost")
        elif name in ("leaving", "shutdown_complete"):
            self.end(member, at_ms)
        elif name == "records_consumed":
            for piece in event["partitions"]:
                self._reads[piece["partition"]].append((piece["minOffset"], piece["maxOffset"]))
        elif name == "offsets_committed" and event["success"]:
            for place in event["offsets"]:
                index = place["partition"]
                self.committed[index] = max(self.committed[index], place["offset"])

    def end(self, member: str, at_ms: float) -> None:
        """That life is over, and whatever it owned is free."""
        self._end(member, list(self._owned.get(member, {})), at_ms, was_lost=False)

    def expect_one_owner_at_a_time(self) -> None:
        for partition, spells in enumerate(self.spells):
            still = [
                Spell(owned[partition], FOR_EVER, member, False)
                for member, owned in self._owned.items()
                if partition in owned
            ]
            ordered = sorted(spells + still)
            for earlier, later in pairwise(ordered):
                if later.start_ms < earlier.end_ms and not earlier.was_lost:
                    raise Broken(f"partition {partition} is owned twice: {earlier} and {later}")

    def expect_all_read(self, ends: Iterable[int]) -> None:
        """Every record up to `ends` was read by somebody."""
        for partition, end in enumerate(ends):
            read_up_to = 0
            for first, last in sorted(self._reads[partition]):
                if first > read_up_to:
                    break
                read_up_to = max(read_up_to, last + 1)
            if read_up_to < end:
                raise Broken(f"partition {partition}: nobody read {read_up_to}, of {end}")

    def expect_committed(self, found: list[int]) -> None:
        """The group still has what its members were told is committed."""
        for partition, (told, kept) in enumerate(zip(self.committed, found, strict=True)):
            if kept < told:
                raise Broken(f"partition {partition}: {told} was committed, {kept} is there")

    def _end(self, member: str, partitions: Iterable[int], at_ms: float, *, was_lost: bool) -> None:
        owned = self._owned.get(member, {})
        for partition in partitions:
            start_ms = owned.pop(partition, None)
            if start_ms is not None:
                self.spells[partition].append(Spell(start_ms, at_ms, member, was_lost))


def _partitions(event: dict[str, Any]) -> list[int]:
    return [place["partition"] for place in event["partitions"]]
