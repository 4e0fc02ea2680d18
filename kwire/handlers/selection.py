"""What several handlers see alike: brokers, partitions, internal topics, operations.

Without an authorizer everybody may do everything, so whoever asks for authorized operations gets
the set of all that Kafka knows for such a resource, as a bit field of Kafka's operation numbers.
"""

from collections.abc import Collection

from kwire.config.endpoints import Endpoint
from kwire.controller.image import NO_LEADER, BrokerImage, PartitionState, TopicImage
from kwire.controller.topics import check_name
from kwire.errors import ErrorCode, InvalidTopic
from kwire.handlers.context import RequestContext

_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _CLUSTER_ACTION = range(3, 10)
_DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = range(10, 13)

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def is_internal(topic: str) -> bool:
    return topic in INTERNAL_TOPICS


def why_missing(topic: str) -> ErrorCode:
    """What to tell of a topic that is not there: it may be that it could never be."""
    try:
        check_name(topic)
    except InvalidTopic as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


NOT_ASKED = -(2**31)
TOPIC_OPERATIONS = _bits(
    _READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS
)
GROUP_OPERATIONS = _bits(_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
CLUSTER_OPERATIONS = _bits(
    _CREATE,
    _ALTER,
    _DESCRIBE,
    _CLUSTER_ACTION,
    _DESCRIBE_CONFIGS,
    _ALTER_CONFIGS,
    _IDEMPOTENT_WRITE,
)


class ClusterView:
    """The cluster as the clients of one listener see it: a broker without that listener is away."""

    __slots__ = ("_hosted", "_node_id", "_reachable", "brokers")

    def __init__(self, ctx: RequestContext) -> None:
        listener_name = ctx.peer.listener_name
        self.brokers: list[tuple[BrokerImage, Endpoint]] = []
        for broker in ctx.node.controller.image.brokers.values():
            endpoint = broker.endpoint(listener_name)
            if endpoint is not None:
                self.brokers.append((broker, endpoint))
        self._reachable = {broker.node_id for broker, _ in self.brokers}
        self._node_id = ctx.node.config.node_id
        self._hosted = ctx.node.hosted

    def is_reachable(self, node_id: int) -> bool:
        return node_id in self._reachable

    def online(self, topic: TopicImage) -> Collection[int]:
        """The partitions of a topic whose logs can be used on this broker."""
        return self._hosted.online(topic.name)

    def offline_replicas(self, state: PartitionState, *, is_online: bool) -> list[int]:
        """Replicas on brokers that are away, and ours if its log is not online."""
        offline = []
        for replica in state.replicas:
            is_ours = replica == self._node_id
            if replica not in self._reachable or (is_ours and not is_online):
                offline.append(replica)
        return offline

    def leader(self, state: PartitionState, offline: list[int]) -> int:
        """Who leads, unless nobody can be served there."""
        if state.leader in offline or state.leader not in self._reachable:
            return NO_LEADER
        return state.leader
