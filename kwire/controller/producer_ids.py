"""Ids for producers, taken from the store in blocks: none is ever given out twice.

What is left of a block when the broker stops is never used; 64 bits have room for that.
"""

from collections import deque
from collections.abc import Sequence

from kwire.controller import znodes
from kwire.controller.store import (
    BadVersion,
    Create,
    MetadataStore,
    NodeExists,
    NoNode,
    Put,
    Result,
    StoredNode,
    StoreError,
)
from kwire.errors import KwireError
from kwire.tasks import Later, now

BLOCK_SIZE = 1000


class ProducerIds:
    def __init__(self, store: MetadataStore, node_id: int) -> None:
        self._store = store
        self._node_id = node_id
        self._block = iter(range(0))
        self._floor = 0
        self._waiting: deque[Later[int | KwireError]] = deque()

    def next(self) -> Later[int | KwireError]:
        """An id; known at once while the block lasts."""
        for producer_id in self._block:
            if producer_id >= self._floor:
                return now(producer_id)
        answer: Later[int | KwireError] = Later()
        self._waiting.append(answer)
        if len(self._waiting) == 1:
            self._take_block()
        return answer

    def stay_above(self, producer_id: int) -> None:
        """Give out no id up to this one: it is in use, though perhaps not given by this store."""
        self._floor = max(self._floor, producer_id + 1)

    def _take_block(self) -> None:
        self._store.get(znodes.PRODUCER_ID_BLOCK).then(self._claim)

    def _claim(self, last: StoredNode | StoreError) -> None:
        """Write down the block after the last one, unless another broker was quicker."""
        if isinstance(last, StoredNode):
            first = max(znodes.last_of_producer_id_block(last.data) + 1, self._floor)
            block = range(first, first + BLOCK_SIZE)
            self._write(
                Put(znodes.PRODUCER_ID_BLOCK, self._encode(block), last.stat.version), block
            )
        elif isinstance(last, NoNode):
            block = range(self._floor, self._floor + BLOCK_SIZE)
            self._write(Create(znodes.PRODUCER_ID_BLOCK, self._encode(block)), block)
        else:
            self._refuse(last)

    def _write(self, op: Create | Put, block: range) -> None:
        def decide(outcome: Sequence[Result] | StoreError) -> None:
            if isinstance(outcome, BadVersion | NodeExists):
                self._take_block()
            elif isinstance(outcome, StoreError):
                self._refuse(outcome)
            else:
                self._hand_out(block)

        self._store.multi([op]).then(decide)

    def _encode(self, block: range) -> bytes:
        return znodes.encode_producer_id_block(self._node_id, block[0], block[-1])

    def _hand_out(self, block: range) -> None:
        self._block = iter(block)
        waiting, self._waiting = self._waiting, deque()
        for answer in waiting:
            self.next().then(answer.complete)

    def _refuse(self, why: StoreError) -> None:
        waiting, self._waiting = self._waiting, deque()
        for answer in waiting:
            answer.complete(why)
