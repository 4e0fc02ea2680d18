"""A command's turn: who asked, when, and the decision that grows meanwhile."""

from typing import NamedTuple

from kwire.coordinator.decision import Asker, Decision


class Turn(NamedTuple):
    asker: Asker
    decision: Decision
    now_ms: int
