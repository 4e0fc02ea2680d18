"""Topics as a controller would describe them."""

from kwire.controller.image import PartitionState, TopicImage
from kwire.tests.replication.conftest import NODE_ID

A_TOPIC_ID = b"A" * 16


def a_state(
    replicas: tuple[int, ...] = (NODE_ID,), *, leader: int = NODE_ID, leader_epoch: int = 0
) -> PartitionState:
    return PartitionState(replicas, replicas, leader, leader_epoch)


def a_topic(
    name: str = "orders",
    *states: PartitionState,
    topic_id: bytes = A_TOPIC_ID,
    config: dict[str, str] | None = None,
) -> TopicImage:
    """A topic with one partition here, or with these."""
    return TopicImage(name, topic_id, dict(enumerate(states or (a_state(),))), config or {})
