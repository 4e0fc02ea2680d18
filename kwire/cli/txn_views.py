"""`kwire txn list` and `kwire txn describe`.

Which broker coordinates an id is learned from the brokers' own lists: asking for the coordinator
would make the topic of transactions where there is none yet.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from kwire.cli.cluster import connect
from kwire.cli.output import JSON, json_text, table
from kwire.codec.apis import DESCRIBE_TRANSACTIONS, LIST_TRANSACTIONS
from kwire.codec.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from kwire.codec.messages.list_transactions import (
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kwire.peers.client import Client
from kwire.peers.failures import check

ANY_DURATION = -1


class Found(NamedTuple):
    """A transactional id, and the node that coordinates it."""

    listed: ListedTransaction
    node_id: int

    @property
    def name(self) -> str:
        return self.listed.transactional_id


def list_transactions(arguments: argparse.Namespace) -> int:
    longer_ms = ANY_DURATION
    if arguments.longer_than is not None:
        longer_ms = int(arguments.longer_than * 1000)
    with connect(arguments) as client:
        found = find_all(client, states=arguments.state, longer_ms=longer_ms)
    if arguments.format == JSON:
        print(json_text([_summary(each) for each in found]))
    else:
        rows = [
            (each.name, each.listed.transaction_state, each.listed.producer_id, each.node_id)
            for each in found
        ]
        print(table(("TRANSACTIONAL ID", "STATE", "PRODUCER", "COORDINATOR"), rows))
    return 0


def describe(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        found, missing = find(client, arguments.ids)
        described = [describe_one(client, each) for each in found]
    if arguments.format == JSON:
        print(json_text([_document(each) for each in described]))
    elif described:
        print("\n\n".join(map(_text, described)))
    return tell_missing(missing)


def find_all(
    client: Client, *, states: Sequence[str] = (), longer_ms: int = ANY_DURATION
) -> list[Found]:
    """The transactional ids of all brokers: each knows only those that it coordinates."""
    found: dict[str, Found] = {}
    for broker in client.metadata([]).brokers:
        request = ListTransactionsRequest(state_filters=list(states), duration_filter=longer_ms)
        answer: ListTransactionsResponse = client.ask_node(
            broker.node_id, LIST_TRANSACTIONS, request
        )
        check(answer.error_code, what=f"transactions of node {broker.node_id}")
        for each in answer.transaction_states:
            found[each.transactional_id] = Found(each, broker.node_id)
    return [found[name] for name in sorted(found)]


def find(client: Client, names: Sequence[str]) -> tuple[list[Found], list[str]]:
    """The ids with these names, all if none are given; and the names that nobody knows."""
    every = {each.name: each for each in find_all(client)}
    wanted = list(dict.fromkeys(names)) or list(every)
    return [every[name] for name in wanted if name in every], [
        name for name in wanted if name not in every
    ]


def describe_one(client: Client, found: Found) -> TransactionState:
    request = DescribeTransactionsRequest(transactional_ids=[found.name])
    answer: DescribeTransactionsResponse = client.ask_node(
        found.node_id, DESCRIBE_TRANSACTIONS, request
    )
    (state,) = answer.transaction_states
    check(state.error_code, what=f"transactional id {found.name}")
    return state


def tell_missing(names: Sequence[str]) -> int:
    for name in names:
        print(f"kwire txn: transactional id {name}: nobody uses it", file=sys.stderr)
    return 1 if names else 0


def _summary(found: Found) -> dict[str, Any]:
    return {
        "transactional_id": found.name,
        "state": found.listed.transaction_state,
        "producer_id": found.listed.producer_id,
        "coordinator": found.node_id,
    }


def _document(state: TransactionState) -> dict[str, Any]:
    return {
        "transactional_id": state.transactional_id,
        "state": state.transaction_state,
        "producer_id": state.producer_id,
        "producer_epoch": state.producer_epoch,
        "timeout_ms": state.transaction_timeout_ms,
        "started_ms": _started_ms(state),
        "partitions": [
            {"topic": topic.topic, "partition": partition}
            for topic in state.topics
            for partition in topic.partitions
        ],
    }


def _text(state: TransactionState) -> str:
    partitions = [f"{topic.topic}-{one}" for topic in state.topics for one in topic.partitions]
    started_ms = _started_ms(state)
    lines = [
        f"Transactional id:  {state.transactional_id}",
        f"State:             {state.transaction_state}",
        f"Producer:          {state.producer_id}, epoch {state.producer_epoch}",
        f"Timeout:           {state.transaction_timeout_ms} ms",
        f"Started:           {'-' if started_ms is None else f'@{started_ms}'}",
        f"Partitions:        {', '.join(partitions) or '-'}",
    ]
    return "\n".join(lines)


def _started_ms(state: TransactionState) -> int | None:
    return None if state.transaction_start_time_ms < 0 else state.transaction_start_time_ms
