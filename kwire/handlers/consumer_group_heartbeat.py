"""ConsumerGroupHeartbeat: a member of the new protocol joins, stays or leaves (KIP-848)."""

from collections.abc import Iterable

from kwire.codec.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatAssignment,
    HeartbeatTopicPartitions,
)
from kwire.errors import ErrorCode, KwireError
from kwire.groups.commands import ConsumerHeartbeat, ConsumerHeartbeatAnswer
from kwire.groups.modern_members import IdPartition, Partitions, by_topic
from kwire.handlers.context import RequestContext
from kwire.tasks import Later

FIRST_VERSION_WITH_OWN_MEMBER_IDS = 1
UNCHANGED = -1


def handle(
    ctx: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> Later[ConsumerGroupHeartbeatResponse]:
    timeout_ms = request.rebalance_timeout_ms
    topics = request.subscribed_topic_names
    command = ConsumerHeartbeat(
        request.group_id,
        request.member_id,
        request.member_epoch,
        ctx.client_id or "",
        f"/{ctx.peer.host}",
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=None if timeout_ms == UNCHANGED else timeout_ms,
        topics=None if topics is None else frozenset(topics),
        regex=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=_owned(request.topic_partitions),
        makes_own_id=ctx.version >= FIRST_VERSION_WITH_OWN_MEMBER_IDS,
    )
    return ctx.node.groups.consumer_heartbeat(command).map(_respond)


def refuse(
    ctx: RequestContext, request: ConsumerGroupHeartbeatRequest, code: ErrorCode
) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code)


def _owned(topics: Iterable[HeartbeatTopicPartitions] | None) -> Partitions | None:
    if topics is None:
        return None
    return frozenset(
        IdPartition(topic.topic_id, partition) for topic in topics for partition in topic.partitions
    )


def _respond(answer: ConsumerHeartbeatAnswer | KwireError) -> ConsumerGroupHeartbeatResponse:
    if isinstance(answer, KwireError):
        return ConsumerGroupHeartbeatResponse(error_code=answer.code, error_message=answer.message)
    return ConsumerGroupHeartbeatResponse(
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        assignment=None if answer.assigned is None else _assignment(answer.assigned),
    )


def _assignment(assigned: Partitions) -> HeartbeatAssignment:
    return HeartbeatAssignment(
        topic_partitions=[
            HeartbeatTopicPartitions(topic_id=topic.topic_id, partitions=topic.partitions)
            for topic in by_topic(assigned)
        ]
    )
