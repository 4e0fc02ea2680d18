"""Offsets that a group commits as part of a producer's transaction (KIP-98, KIP-447).

They are written at once, count when the transaction commits, and are forgotten when it aborts.
"""

from typing import NamedTuple

from kwire.config.broker import BrokerConfig
from kwire.coordinator.decision import Decision, TransactionEnd
from kwire.errors import ErrorCode, IllegalGeneration
from kwire.groups.classic import ClassicGroup, GroupState
from kwire.groups.commands import Commit
from kwire.groups.offsets import commit


class TransactionalCommit(NamedTuple):
    """Answered with one error code for each offset."""

    commit: Commit
    producer_id: int
    producer_epoch: int

    @property
    def group_id(self) -> str:
        return self.commit.group_id


class EndTransaction(NamedTuple):
    """A transaction ends that committed offsets in this shard; answered with None."""

    end: TransactionEnd


def check(group: ClassicGroup | None, command: Commit) -> None:
    """Fence old members; a producer that names none is trusted, as before KIP-447."""
    if group is None:
        if command.generation >= 0:
            raise IllegalGeneration()
        return
    if command.generation < 0 and group.state is GroupState.EMPTY:
        return
    if command.generation >= 0 or command.member_id or command.instance_id is not None:
        group.members.check(command.member_id, command.instance_id)
        if command.generation != group.generation:
            raise IllegalGeneration()


def commit_in_transaction(
    command: TransactionalCommit, config: BrokerConfig, decision: Decision, now_ms: int
) -> list[ErrorCode]:
    """Write down what a group will have read; the caller has made sure that it may."""
    plain = Decision()
    codes = commit(command.commit, config, plain, now_ms)
    decision.records += [
        record._replace(producer_id=command.producer_id, producer_epoch=command.producer_epoch)
        for record in plain.records
    ]
    return codes
