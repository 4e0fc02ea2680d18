"""DescribeCluster: who is there, and where."""

from pathlib import Path

import pytest

from kwire.codec.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest
from kwire.errors import ErrorCode
from kwire.handlers.selection import CLUSTER_OPERATIONS, NOT_ASKED
from kwire.tests.handlers.nodes import NODE_ID, OpenNode

NEWEST = 2


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_the_cluster_is_its_id_its_controller_and_its_brokers(tmp_path: Path, version: int) -> None:
    node = OpenNode(tmp_path, {"broker.rack": "cellar"})
    answer = node.ask(DescribeClusterRequest(), version)
    assert answer.error_code == ErrorCode.NONE
    assert answer.cluster_id == node.node.controller.image.cluster_id
    assert answer.controller_id == NODE_ID
    assert answer.brokers == [
        DescribeClusterBroker(broker_id=NODE_ID, host="localhost", port=9092, rack="cellar")
    ]
    node.close()


def test_brokers_are_told_at_the_listener_of_the_client(node: OpenNode) -> None:
    (broker,) = node.ask(DescribeClusterRequest(), NEWEST, listener_name="INSIDE").brokers
    assert (broker.host, broker.port) == ("broker.local", 9093)


def test_operations_are_told_only_to_who_asks(node: OpenNode) -> None:
    asking = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert node.ask(asking, 0).cluster_authorized_operations == CLUSTER_OPERATIONS
    assert node.ask(DescribeClusterRequest(), 0).cluster_authorized_operations == NOT_ASKED


@pytest.mark.parametrize(
    ("endpoint_type", "code", "words"),
    [
        (2, ErrorCode.MISMATCHED_ENDPOINT_TYPE, "we wanted an endpoint of type CONTROLLER"),
        (7, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, "Unsupported endpoint type 7"),
    ],
)
def test_only_brokers_can_be_asked_for(
    node: OpenNode, endpoint_type: int, code: ErrorCode, words: str
) -> None:
    answer = node.ask(DescribeClusterRequest(endpoint_type=endpoint_type), NEWEST)
    assert answer.error_code == code
    assert words in answer.error_message
    assert answer.brokers == []
