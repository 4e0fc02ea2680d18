"""Metadata: the brokers, and for each topic who leads its partitions.

Topics are asked for by name, by id (from version 12 on), or all at once. A name that is not there
is created if both the client and `auto.create.topics.enable` allow it; the answer then waits for
the controller, and tells of the new topic at once, where Kafka makes the client ask again.
"""

from collections.abc import Iterable

from kwire.codec.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataTopic,
)
from kwire.controller.commands import NewTopic
from kwire.controller.image import NO_LEADER, PartitionState, TopicImage
from kwire.errors import ErrorCode, InvalidRequest, KwireError, TopicAlreadyExists
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import (
    CLUSTER_OPERATIONS,
    NOT_ASKED,
    TOPIC_OPERATIONS,
    ClusterView,
    is_internal,
    why_missing,
)
from kwire.tasks import Later
from kwire.types import ZERO_UUID

LAST_VERSION_WITHOUT_NULL = 0
FIRST_VERSION_WITH_LISTENER_NOT_FOUND = 6
FIRST_VERSION_ASKED_BY_ID = 12


def handle(
    ctx: RequestContext, request: MetadataRequest
) -> MetadataResponse | Later[MetadataResponse]:
    asked = request.topics
    if asked is None or (not asked and ctx.version == LAST_VERSION_WITHOUT_NULL):
        return _Answer(ctx, request).all_topics()
    for topic in asked:
        _check(topic, ctx.version)
    ids = dict.fromkeys(topic.topic_id for topic in asked)
    ids.pop(ZERO_UUID, None)
    if ids:
        return _Answer(ctx, request).by_id(ids)
    names = list(dict.fromkeys(topic.name for topic in asked if topic.name is not None))
    missing = _creatable(ctx, request, names)
    if not missing:
        return _Answer(ctx, request).by_name(names, {})
    created = ctx.node.controller.create_topics([NewTopic(name) for name in missing])
    return created.map(
        lambda results: _Answer(ctx, request).by_name(names, _failures(missing, results))
    )


def refuse(ctx: RequestContext, request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    return MetadataResponse(
        topics=[
            MetadataTopic(error_code=code, name=topic.name or "", topic_id=topic.topic_id)
            for topic in request.topics or ()
        ],
        error_code=code,
    )


def _check(topic: MetadataRequestTopic, version: int) -> None:
    """Versions 10 and 11 have room for ids, but no meaning for them."""
    has_id = topic.topic_id != ZERO_UUID
    if has_id and version < FIRST_VERSION_ASKED_BY_ID:
        raise InvalidRequest(f"Topic IDs are not supported in requests for version {version}")
    if topic.name is None and not has_id:
        raise InvalidRequest("A topic needs a name or an id")


def _creatable(ctx: RequestContext, request: MetadataRequest, names: list[str]) -> list[str]:
    """Which of the names to ask the controller for. Internal topics are their owners' to create."""
    if not (request.allow_auto_topic_creation and ctx.node.config.auto_create_topics_enable):
        return []
    known = ctx.node.controller.image.topics
    return [name for name in names if name not in known and not is_internal(name)]


def _failures(names: list[str], results: list[TopicImage | KwireError]) -> dict[str, KwireError]:
    """Why topics could not be created; that somebody else was quicker is no failure."""
    return {
        name: result
        for name, result in zip(names, results, strict=True)
        if isinstance(result, KwireError) and not isinstance(result, TopicAlreadyExists)
    }


class _Answer:
    """One answer in the making, from the image as it is now."""

    __slots__ = ("_image", "_lists", "_request", "_version", "_view")

    def __init__(self, ctx: RequestContext, request: MetadataRequest) -> None:
        self._request = request
        self._version = ctx.version
        self._image = ctx.node.controller.image
        self._view = ClusterView(ctx)
        self._lists: dict[tuple[int, ...], list[int]] = {}

    def all_topics(self) -> MetadataResponse:
        return self._with([self._topic(topic) for topic in self._image.topics.values()])

    def by_id(self, ids: Iterable[bytes]) -> MetadataResponse:
        return self._with([self._by_id(topic_id) for topic_id in ids])

    def by_name(self, names: Iterable[str], failures: dict[str, KwireError]) -> MetadataResponse:
        return self._with([self._by_name(name, failures.get(name)) for name in names])

    def _with(self, topics: list[MetadataTopic]) -> MetadataResponse:
        asks_for_operations = self._request.include_cluster_authorized_operations
        return MetadataResponse(
            brokers=[
                MetadataBroker(
                    node_id=broker.node_id,
                    host=endpoint.host,
                    port=endpoint.port,
                    rack=broker.rack,
                )
                for broker, endpoint in self._view.brokers
            ],
            cluster_id=self._image.cluster_id,
            controller_id=self._image.controller_id,
            topics=topics,
            cluster_authorized_operations=CLUSTER_OPERATIONS if asks_for_operations else NOT_ASKED,
        )

    def _by_id(self, topic_id: bytes) -> MetadataTopic:
        topic = self._image.topic_by_id(topic_id)
        if topic is not None:
            return self._topic(topic)
        return MetadataTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id)

    def _by_name(self, name: str, failure: KwireError | None) -> MetadataTopic:
        topic = self._image.topics.get(name)
        if topic is not None:
            return self._topic(topic)
        return MetadataTopic(
            error_code=why_missing(name) if failure is None else failure.code,
            name=name,
            is_internal=is_internal(name),
            topic_authorized_operations=self._topic_operations(),
        )

    def _topic(self, topic: TopicImage) -> MetadataTopic:
        online = self._view.online(topic)
        return MetadataTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=is_internal(topic.name),
            partitions=[
                self._partition(index, state, is_online=index in online)
                for index, state in sorted(topic.partitions.items())
            ],
            topic_authorized_operations=self._topic_operations(),
        )

    def _topic_operations(self) -> int:
        asks = self._request.include_topic_authorized_operations
        return TOPIC_OPERATIONS if asks else NOT_ASKED

    def _partition(
        self, index: int, state: PartitionState, *, is_online: bool
    ) -> MetadataPartition:
        offline = self._view.offline_replicas(state, is_online=is_online)
        leader = self._view.leader(state, offline)
        replicas, isr = self._list(state.replicas), self._list(state.isr)
        return MetadataPartition(
            error_code=self._error(state, leader, len(replicas), len(isr)),
            partition_index=index,
            leader_id=leader,
            leader_epoch=state.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=offline,
        )

    def _list(self, node_ids: tuple[int, ...]) -> list[int]:
        """One list for all partitions that are placed alike: most are, and there may be many.

        In version 0 a broker that cannot be reached is left out.
        """
        found = self._lists.get(node_ids)
        if found is None:
            found = list(node_ids)
            if self._version == LAST_VERSION_WITHOUT_NULL:
                found = [node_id for node_id in node_ids if self._view.is_reachable(node_id)]
            self._lists[node_ids] = found
        return found

    def _error(
        self, state: PartitionState, leader: int, replica_count: int, isr_count: int
    ) -> ErrorCode:
        if leader == NO_LEADER:
            is_unlisted = state.leader in self._image.brokers and not self._view.is_reachable(
                state.leader
            )
            if is_unlisted and self._version >= FIRST_VERSION_WITH_LISTENER_NOT_FOUND:
                return ErrorCode.LISTENER_NOT_FOUND
            return ErrorCode.LEADER_NOT_AVAILABLE
        if replica_count < len(state.replicas) or isr_count < len(state.isr):
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return ErrorCode.NONE
