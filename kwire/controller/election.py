"""Becoming controller, and knowing for how long.

One multi creates the ephemeral `/controller` and raises `/controller_epoch`, at the version that
was read: of several candidates one wins. Each later write of a controller checks the version of
`/controller_epoch`, so one that has been replaced without noticing can do no harm.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kwire.controller import znodes
from kwire.controller.steps import chain
from kwire.controller.store import (
    Check,
    Create,
    MetadataStore,
    Put,
    Result,
    StoredNode,
    StoreError,
)
from kwire.tasks import Later, now


class Mandate(NamedTuple):
    """The right to write, and how to show it."""

    epoch: int
    epoch_version: int

    def check(self) -> Check:
        return Check(znodes.CONTROLLER_EPOCH, self.epoch_version)


def campaign(store: MetadataStore, node_id: int, now_ms: int) -> Later[Mandate | StoreError]:
    """Try once to become controller; the StoreError tells what was in the way."""
    candidate = _Candidate(store, node_id, now_ms)
    return chain(store.get(znodes.CONTROLLER_EPOCH), candidate.run)


class _Candidate:
    def __init__(self, store: MetadataStore, node_id: int, now_ms: int) -> None:
        self._store = store
        self._controller = Create(
            znodes.CONTROLLER, znodes.encode_controller(node_id, now_ms), ephemeral=True
        )

    def run(self, known: StoredNode | StoreError) -> Later[Mandate | StoreError]:
        if isinstance(known, StoreError):
            return now(known)
        wanted = Mandate(int(known.data) + 1, known.stat.version + 1)
        raised = Put(znodes.CONTROLLER_EPOCH, b"%d" % wanted.epoch, known.stat.version)

        def decide(outcome: Sequence[Result] | StoreError) -> Later[Mandate | StoreError]:
            if not isinstance(outcome, StoreError):
                return now(wanted)
            return self._look_again(wanted, outcome)

        return chain(self._store.multi([self._controller, raised]), decide)

    def _look_again(self, wanted: Mandate, why: StoreError) -> Later[Mandate | StoreError]:
        """The multi may have been carried out, and only its answer been lost."""

        def is_mine(controller: StoredNode | StoreError) -> Later[Mandate | StoreError]:
            if isinstance(controller, StoreError) or (
                controller.stat.owner != self._store.session_id
            ):
                return now(why)
            return self._store.get(znodes.CONTROLLER_EPOCH).map(has_won)

        def has_won(epoch: StoredNode | StoreError) -> Mandate | StoreError:
            if isinstance(epoch, StoreError) or epoch.stat.version != wanted.epoch_version:
                return why
            return wanted

        return chain(self._store.get(znodes.CONTROLLER), is_mine)
