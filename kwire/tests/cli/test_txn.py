"""`kwire txn` against a real broker: its words, and what they do."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kwire.app import App
from kwire.cli.main import main
from kwire.codec.apis import (
    ADD_PARTITIONS_TO_TXN,
    END_TXN,
    FIND_COORDINATOR,
    INIT_PRODUCER_ID,
)
from kwire.codec.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kwire.codec.messages.end_txn import EndTxnRequest
from kwire.codec.messages.find_coordinator import FindCoordinatorRequest
from kwire.codec.messages.init_producer_id import InitProducerIdRequest
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.connection import Address

Captured = pytest.CaptureFixture[str]
Run = Callable[..., Any]
TRANSACTION = 1
TIMEOUT_MS = 60_000


@pytest.fixture
def run(real_broker: App, capsys: Captured) -> Run:
    """Run a command that must succeed, and return the JSON it prints."""

    def run(words: str) -> Any:
        code = main([*words.split(), "--format", "json"])
        told = capsys.readouterr()
        assert code == 0, told.err
        return json.loads(told.out)

    return run


class Writer:
    """A producer that has begun a transaction in `orders`, partition 1."""

    def __init__(self, client: Client) -> None:
        self._client = client
        client.ask(
            FIND_COORDINATOR,
            FindCoordinatorRequest(key="pay", coordinator_keys=["pay"], key_type=TRANSACTION),
        )
        told = self._init()
        while told.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            told = self._init()
        self.producer_id, self.epoch = told.producer_id, told.producer_epoch
        topic = AddPartitionsToTxnTopic(name="orders", partitions=[1])
        transaction = AddPartitionsToTxnTransaction(
            transactional_id="pay",
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[topic],
        )
        client.ask(ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest(transactions=[transaction]))

    def _init(self) -> Any:
        request = InitProducerIdRequest(transactional_id="pay", transaction_timeout_ms=TIMEOUT_MS)
        return self._client.ask(INIT_PRODUCER_ID, request)

    def commit(self) -> int:
        request = EndTxnRequest(
            transactional_id="pay",
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=True,
        )
        code: int = self._client.ask(END_TXN, request).error_code
        return code


@pytest.fixture
def writer(real_broker: App, run: Run) -> Iterator[Writer]:
    run("topic create orders -p 2")
    endpoint = real_broker.endpoints[0]
    with Client([Address(endpoint.host, endpoint.port)]) as client:
        yield Writer(client)


def test_a_cluster_without_transactions_lists_none_and_makes_no_topic(run: Run) -> None:
    assert run("txn list") == run("txn describe") == []
    assert run("topic list --internal") == []


def test_transactions_are_listed(run: Run, writer: Writer) -> None:
    row = {
        "transactional_id": "pay",
        "state": "Ongoing",
        "producer_id": writer.producer_id,
        "coordinator": 1,
    }
    assert run("txn list") == run("txn list --state Ongoing") == [row]
    assert run("txn list --state Empty") == run("txn list --longer-than 60") == []


def test_a_transaction_is_described(run: Run, writer: Writer) -> None:
    (described,) = run("txn describe pay")
    started_ms = described.pop("started_ms")
    assert started_ms > 0
    assert described == {
        "transactional_id": "pay",
        "state": "Ongoing",
        "producer_id": writer.producer_id,
        "producer_epoch": 0,
        "timeout_ms": TIMEOUT_MS,
        "partitions": [{"topic": "orders", "partition": 1}],
    }


def test_an_abort_ends_the_transaction_and_fences_its_producer(run: Run, writer: Writer) -> None:
    assert run("txn abort pay") == [{"transactional_id": "pay", "state": "aborted"}]
    assert writer.commit() == ErrorCode.PRODUCER_FENCED
    (described,) = run("txn describe pay")
    assert (described["state"], described["started_ms"]) == ("Empty", None)


def test_what_is_over_cannot_be_aborted(run: Run, writer: Writer, capsys: Captured) -> None:
    assert writer.commit() == ErrorCode.NONE
    assert main(["txn", "abort", "pay"]) == 1
    assert capsys.readouterr().err == (
        "kwire txn: transactional id pay: nothing is open (CompleteCommit)\n"
    )


@pytest.mark.parametrize("action", ["describe", "abort"])
def test_an_id_that_nobody_uses_is_told_so(real_broker: App, capsys: Captured, action: str) -> None:
    assert main(["txn", action, "nobody"]) == 1
    assert "transactional id nobody: nobody uses it" in capsys.readouterr().err


def test_people_read_tables(run: Run, writer: Writer, capsys: Captured) -> None:
    assert main(["txn", "list"]) == 0
    titles, row = capsys.readouterr().out.splitlines()
    assert titles.split() == ["TRANSACTIONAL", "ID", "STATE", "PRODUCER", "COORDINATOR"]
    assert row.split() == ["pay", "Ongoing", str(writer.producer_id), "1"]
    assert main(["txn", "describe", "pay"]) == 0
    assert "Partitions:        orders-1" in capsys.readouterr().out
    assert main(["txn", "abort", "pay"]) == 0
    told = capsys.readouterr().out
    assert told == "aborted the transaction of pay, and fenced its producer\n"
