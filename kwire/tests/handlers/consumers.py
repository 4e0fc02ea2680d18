"""Members of groups of the new protocol, for tests of handlers."""

from typing import Any

from kwire.codec.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kwire.tests.handlers.members import GROUP
from kwire.tests.handlers.nodes import OpenNode


def beat(node: OpenNode, version: int = 1, **fields: Any) -> ConsumerGroupHeartbeatResponse:
    """A heartbeat that says no more than it is told to."""
    given = {"group_id": GROUP, "member_id": "m", "member_epoch": 2}
    answer = node.ask(ConsumerGroupHeartbeatRequest(**{**given, **fields}), version)
    assert isinstance(answer, ConsumerGroupHeartbeatResponse)
    return answer


def join(node: OpenNode, version: int = 1, **fields: Any) -> ConsumerGroupHeartbeatResponse:
    """A first heartbeat: it says everything."""
    given = {
        "member_epoch": 0,
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["orders"],
        "topic_partitions": [],
    }
    return beat(node, version, **{**given, **fields})
