"""A shard of transactions on a stage: its log is a list, its clock stands still.

Whoever should write markers notes down what it was told; a test says when they are written.
"""

from typing import Any

from kwire.clock import ManualClock
from kwire.config.broker import resolve_broker
from kwire.coordinator.shard import Shard
from kwire.coordinator.timers import Timers
from kwire.errors import KwireError
from kwire.tests.groups.stage import MemoryJournal
from kwire.tests.handlers.nodes import ManualScheduler
from kwire.transactions.commands import (
    AddPartitions,
    EndTransaction,
    InitProducer,
    MarkersMissing,
    MarkersWritten,
    NeedsProducerId,
)
from kwire.transactions.state import VERSION_1, ProducerIdentity, Transaction, TransactionState
from kwire.transactions.transactions import Transactions
from kwire.types import TopicPartition

ID = "tx"
TIMEOUT_MS = 60_000
FIRST_PRODUCER_ID = 1000
ORDERS = TopicPartition("orders", 0)
BILLS = TopicPartition("bills", 3)


class Stage:
    def __init__(self, **settings: object) -> None:
        texts = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self._config = resolve_broker(texts)
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.journal = MemoryJournal()
        self.markers: list[tuple[Transaction, bool]] = []
        """What is to be written, and whether some of it may be there."""
        self.seen_ids: list[int] = []
        self._next_producer_id = FIRST_PRODUCER_ID
        self.machine, self.shard = self._open()

    def ask(self, command: Any) -> Any:
        """What a command is answered with at once: a value, or the code of a refusal."""
        answered = self.shard.submit(command)
        assert answered.done, f"{command} is not answered yet"
        if isinstance(answered.value, NeedsProducerId):
            self._next_producer_id += 1
            return self.ask(command._replace(new_producer_id=self._next_producer_id - 1))
        return answered.value.code if isinstance(answered.value, KwireError) else answered.value

    def init(self, *expected: int, timeout_ms: int = TIMEOUT_MS) -> Any:
        known = ProducerIdentity(*expected) if expected else None
        return self.ask(InitProducer(ID, timeout_ms, known))

    def add(
        self,
        producer_id: int,
        epoch: int,
        *partitions: TopicPartition,
        client_version: int = VERSION_1,
    ) -> Any:
        wanted = frozenset(partitions or (ORDERS,))
        producer = ProducerIdentity(producer_id, epoch)
        return self.ask(AddPartitions(ID, producer, wanted, client_version))

    def end(
        self, producer_id: int, epoch: int, *, is_commit: bool, client_version: int = VERSION_1
    ) -> Any:
        producer = ProducerIdentity(producer_id, epoch)
        return self.ask(EndTransaction(ID, producer, is_commit, client_version))

    def finish(self) -> None:
        """All markers that wait are written."""
        for transaction, _ in self._take_markers():
            self.shard.remind(MarkersWritten(transaction.transactional_id, transaction.identity))

    def fail_markers(self) -> None:
        for transaction, _ in self._take_markers():
            self.shard.remind(MarkersMissing(transaction.transactional_id, transaction.identity))

    def restart(self) -> None:
        """Forget everything but the log, and read that."""
        self.shard.close()
        self.markers = []
        self.machine, self.shard = self._open()

    @property
    def known(self) -> Transaction:
        return self.machine.transactions[ID]

    @property
    def state(self) -> TransactionState:
        return self.known.state

    def force(self, **changes: Any) -> None:
        """Bring the transaction into a state that would take long to reach."""
        self.machine.transactions[ID] = self.known._replace(**changes)

    def _take_markers(self) -> list[tuple[Transaction, bool]]:
        taken, self.markers = self.markers, []
        return taken

    def _open(self) -> tuple[Transactions, Shard[Transactions]]:
        machine = Transactions(
            self._config, lambda *told: self.markers.append(told), self.seen_ids.append
        )
        shard = Shard(machine, self.journal, Timers(self.scheduler, self.clock), self.clock)
        for record in self.journal.records:
            machine.apply(record)
        shard.finish_loading(None)
        return machine, shard
