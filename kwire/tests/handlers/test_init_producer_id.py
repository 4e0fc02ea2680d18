"""InitProducerId: every idempotent producer gets an id of its own."""

from pathlib import Path

import pytest

from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.errors import ErrorCode, KafkaStorageError
from kwire.tasks import now
from kwire.tests.handlers.nodes import OpenNode

NEWEST = 5
IDS_IN_A_BLOCK = 1000


def _plain() -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id=None)


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_producer_gets_a_new_id_at_epoch_0(node: OpenNode, version: int) -> None:
    first, second = (node.ask(_plain(), version) for _ in range(2))
    assert first.error_code == second.error_code == ErrorCode.NONE
    assert first.producer_epoch == second.producer_epoch == 0
    assert second.producer_id == first.producer_id + 1


def test_ids_stay_unique_when_a_block_is_used_up(node: OpenNode) -> None:
    ids = {node.ask(_plain(), NEWEST).producer_id for _ in range(IDS_IN_A_BLOCK + 2)}
    assert len(ids) == IDS_IN_A_BLOCK + 2


def test_no_id_is_handed_out_again_after_a_restart(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        node = OpenNode(tmp_path)
        ids.append(node.ask(_plain(), NEWEST).producer_id)
        node.close()
    assert ids[0] != ids[1]


def test_a_producer_is_told_to_ask_again_while_ids_cannot_be_had(
    node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node.node.producer_ids, "next", lambda: now(KafkaStorageError()))
    answer = node.ask(_plain(), NEWEST)
    assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert (answer.producer_id, answer.producer_epoch) == (-1, -1)


def test_an_id_shown_without_a_transactional_id_is_replaced(node: OpenNode) -> None:
    shown = InitProducerIdRequest(transactional_id=None, producer_id=77, producer_epoch=3)
    answer = node.ask(shown, NEWEST)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, 0)
    assert answer.producer_id != 77


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (InitProducerIdRequest(transactional_id=None, producer_id=5), ErrorCode.INVALID_REQUEST),
        (InitProducerIdRequest(transactional_id=None, producer_epoch=5), ErrorCode.INVALID_REQUEST),
        (
            InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1000),
            ErrorCode.INVALID_REQUEST,
        ),
        (
            InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=0),
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
        ),
        (
            InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000),
            ErrorCode.NOT_COORDINATOR,
        ),
    ],
)
def test_who_gets_no_id_is_told_why(
    node: OpenNode, request_: InitProducerIdRequest, code: ErrorCode
) -> None:
    assert node.ask(request_, NEWEST) == InitProducerIdResponse(
        error_code=code, producer_id=-1, producer_epoch=-1
    )
