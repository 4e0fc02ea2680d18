"""ListTransactions: transactional ids, through filters."""

from typing import Any

import pytest

from kwire.codec.messages.list_transactions import ListTransactionsRequest
from kwire.errors import ErrorCode
from kwire.tests.handlers.nodes import OpenNode
from kwire.tests.transactions.nodes import Producer


@pytest.fixture
def listed(node: OpenNode) -> OpenNode:
    """`idle` has begun nothing, `open-1` runs for 10 seconds and `open-2` for 1."""
    node.create("orders")
    Producer(node, "idle").init()
    for name, later_ms in (("open-1", 9000), ("open-2", 1000)):
        producer = Producer(node, name, is_new=True)
        producer.init()
        producer.begin()
        node.clock.advance(later_ms)
    return node


def _names(node: OpenNode, version: int = 2, **filters: Any) -> list[str]:
    answer = node.ask(ListTransactionsRequest(**filters), version)
    assert answer.error_code == ErrorCode.NONE
    return sorted(one.transactional_id for one in answer.transaction_states)


@pytest.mark.parametrize("version", range(3))
def test_without_filters_everything_is_listed(listed: OpenNode, version: int) -> None:
    assert _names(listed, version) == ["idle", "open-1", "open-2"]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"state_filters": ["Empty"]}, ["idle"]),
        ({"state_filters": ["Empty", "Ongoing"]}, ["idle", "open-1", "open-2"]),
        ({"state_filters": ["ongoing"]}, []),
        ({"producer_id_filters": [1]}, ["open-1"]),
        ({"producer_id_filters": [1, 99], "state_filters": ["Empty"]}, []),
        ({"duration_filter": 999}, ["idle", "open-1", "open-2"]),
        ({"duration_filter": 1000}, ["idle", "open-1"]),
        ({"transactional_id_pattern": "open-.*"}, ["open-1", "open-2"]),
        ({"transactional_id_pattern": "open"}, []),
        ({"transactional_id_pattern": ""}, ["idle", "open-1", "open-2"]),
    ],
)
def test_filters_let_through_what_matches_all_of_them(
    listed: OpenNode, filters: dict[str, Any], names: list[str]
) -> None:
    assert _names(listed, **filters) == names


def test_states_that_do_not_exist_are_named(listed: OpenNode) -> None:
    asked = ListTransactionsRequest(state_filters=["Odd", "Ongoing", "ongoing"])
    assert listed.ask(asked, 0).unknown_state_filters == ["Odd", "ongoing"]


def test_a_pattern_that_is_none_is_refused(listed: OpenNode) -> None:
    answer = listed.ask(ListTransactionsRequest(transactional_id_pattern="(open"), 2)
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_nothing_is_listed_before_the_first_transaction(node: OpenNode) -> None:
    assert _names(node) == []
