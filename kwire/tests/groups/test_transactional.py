"""Offsets within transactions: pending until the marker, and fenced like other commits."""

from typing import Any

import pytest

from kwire.coordinator.decision import TransactionEnd
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import Commit, OffsetToCommit
from kwire.groups.transactional import EndTransaction, TransactionalCommit
from kwire.tests.groups.stage import GROUP, Stage
from kwire.types import TopicPartition

ORDERS = TopicPartition("orders", 0)
PRODUCER = 7


def _commit(offset: int, **member: Any) -> TransactionalCommit:
    wanted = (OffsetToCommit(*ORDERS, offset),)
    return TransactionalCommit(Commit(GROUP, wanted, **member), PRODUCER, producer_epoch=2)


def _end(*, is_commit: bool, producer_id: int = PRODUCER) -> EndTransaction:
    return EndTransaction(TransactionEnd(producer_id, 2, 0, is_commit=is_commit))


def _ask(stage: Stage, command: Any) -> Any:
    answered = stage.shard.submit(command)
    assert answered.done
    return answered.value.code if isinstance(answered.value, KwireError) else answered.value


def _committed(stage: Stage) -> int | None:
    found = stage.groups.offsets.get(GROUP, ORDERS)
    return None if found is None else found.offset


def test_offsets_wait_for_their_transaction() -> None:
    stage = Stage()
    assert _ask(stage, _commit(5)) == [ErrorCode.NONE]
    assert _committed(stage) is None
    assert stage.groups.offsets.is_unstable(GROUP, ORDERS)
    assert _ask(stage, _end(is_commit=True)) is None
    assert _committed(stage) == 5
    assert not stage.groups.offsets.is_unstable(GROUP, ORDERS)


def test_offsets_of_an_aborted_transaction_are_forgotten() -> None:
    stage = Stage()
    _ask(stage, Commit(GROUP, (OffsetToCommit(*ORDERS, 3),)))
    _ask(stage, _commit(5))
    _ask(stage, _end(is_commit=False))
    assert _committed(stage) == 3
    assert not stage.groups.offsets.is_unstable(GROUP, ORDERS)


def test_the_end_of_another_producer_changes_nothing() -> None:
    stage = Stage()
    _ask(stage, _commit(5))
    _ask(stage, _end(is_commit=True, producer_id=PRODUCER + 1))
    assert stage.groups.offsets.is_unstable(GROUP, ORDERS)


def test_records_carry_their_producer() -> None:
    stage = Stage()
    _ask(stage, _commit(5))
    (record,) = stage.journal.records
    assert (record.producer_id, record.producer_epoch, record.is_marker) == (PRODUCER, 2, False)


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ({}, ErrorCode.NONE),
        ({"generation": 1}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_a_group_that_does_not_exist_has_no_generation(
    member: dict[str, Any], code: ErrorCode
) -> None:
    answer = _ask(Stage(), _commit(5, **member))
    assert answer in (code, [code])


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ({}, ErrorCode.NONE),
        ({"generation": 1, "member_id": "a-1"}, ErrorCode.NONE),
        ({"generation": 2, "member_id": "a-1"}, ErrorCode.ILLEGAL_GENERATION),
        ({"generation": 1, "member_id": "b-9"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 1, "member_id": "a-1", "instance_id": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "a-1"}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_members_of_old_generations_are_fenced(member: dict[str, Any], code: ErrorCode) -> None:
    stage = Stage(group_initial_rebalance_delay_ms=0)
    stage.play(
        """
        join a          -> MEMBER_ID_REQUIRED a-1
        join a          -> waits
        pass 0          -> a: 1 range leads a-1
        sync a a=x      -> x
        """
    )
    answer = _ask(stage, _commit(5, **member))
    assert answer in (code, [code])
