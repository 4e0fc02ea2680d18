"""InitProducerId: every idempotent producer gets an id of its own."""

from pathlib import Path

import pytest

from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.errors import ErrorCode, KafkaStorageError
from kwire.tasks import now
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer

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


def _transactional(timeout_ms: int = 60_000, **shown: int) -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=timeout_ms, **shown)


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_transactional_id_keeps_its_producer_id(node: OpenNode, version: int) -> None:
    Producer(node).init()
    first, second = (node.ask(_transactional(), version) for _ in range(2))
    assert first.producer_id == second.producer_id
    assert (first.producer_epoch, second.producer_epoch) == (1, 2)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_producer_that_goes_on_shows_who_it_was(node: OpenNode, version: int) -> None:
    producer = Producer(node)
    producer.init()
    shown = _transactional(producer_id=producer.producer_id, producer_epoch=0)
    assert node.ask(shown, version).producer_epoch == 1
    node.ask(_transactional(), version)
    fenced = node.ask(shown, version)
    expected = ErrorCode.INVALID_PRODUCER_EPOCH if version < 4 else ErrorCode.PRODUCER_FENCED
    assert (fenced.error_code, fenced.producer_id) == (expected, -1)


@pytest.mark.parametrize(
    ("timeout_ms", "code"),
    [
        (-1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (1, ErrorCode.NONE),
        (5000, ErrorCode.NONE),
        (5001, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_a_transaction_may_not_take_longer_than_the_broker_allows(
    tmp_path: Path, timeout_ms: int, code: ErrorCode
) -> None:
    node = OpenNode(tmp_path, {"transaction.max.timeout.ms": "5000"})
    Producer(node).init(timeout_ms=1000)
    assert node.ask(_transactional(timeout_ms), NEWEST).error_code == code
    node.close()
