"""ConsumerGroupDescribe: state and members of groups of the new protocol (KIP-848)."""

from collections.abc import Iterable

from kwire.codec.messages.consumer_group_describe import (
    ConsumerAssignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerTopicPartitions,
    DescribedConsumer,
    DescribedConsumerGroup,
)
from kwire.controller.image import ClusterImage
from kwire.errors import ErrorCode, GroupIdNotFound, InvalidGroupId, KwireError
from kwire.groups.groups import Groups
from kwire.groups.modern import ModernGroup
from kwire.groups.modern_members import NONE, IdPartition, ModernMember, by_topic
from kwire.handlers.context import RequestContext
from kwire.handlers.selection import GROUP_OPERATIONS, NOT_ASKED

CLASSIC_MEMBER = 0
MODERN_MEMBER = 1


def handle(
    ctx: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    return ConsumerGroupDescribeResponse(
        groups=[_describe(ctx, group_id, operations) for group_id in request.group_ids]
    )


def refuse(
    ctx: RequestContext, request: ConsumerGroupDescribeRequest, code: ErrorCode
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[
            DescribedConsumerGroup(group_id=group_id, error_code=code)
            for group_id in request.group_ids
        ]
    )


def _describe(ctx: RequestContext, group_id: str, operations: int) -> DescribedConsumerGroup:
    try:
        if not group_id:
            raise InvalidGroupId()
        group = _find(ctx.node.groups.reading(group_id), group_id)
    except KwireError as refusal:
        return DescribedConsumerGroup(
            group_id=group_id, error_code=refusal.code, error_message=refusal.message
        )
    image = ctx.node.controller.image
    return DescribedConsumerGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor(ctx.node.config.group_consumer_assignors[0]),
        members=[_member(group, member, image) for member in group.members.values()],
        authorized_operations=operations,
    )


def _find(groups: Groups, group_id: str) -> ModernGroup:
    if group_id in groups.groups:
        raise GroupIdNotFound(f"Group {group_id} is not a consumer group.")
    group = groups.modern.groups.get(group_id)
    if group is None:
        raise GroupIdNotFound(f"Group {group_id} not found.")
    return group


def _member(group: ModernGroup, member: ModernMember, image: ClusterImage) -> DescribedConsumer:
    target = group.targets.get(member.member_id, NONE)
    return DescribedConsumer(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex or "",
        assignment=_assignment([*member.assigned, *member.pending_revocation], image),
        target_assignment=_assignment(target, image),
        member_type=MODERN_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(partitions: Iterable[IdPartition], image: ClusterImage) -> ConsumerAssignment:
    """By name too, so topics that were deleted meanwhile are left out."""
    found = []
    for topic in by_topic(partitions):
        known = image.topic_by_id(topic.topic_id)
        if known is not None:
            found.append(
                ConsumerTopicPartitions(
                    topic_id=topic.topic_id, topic_name=known.name, partitions=topic.partitions
                )
            )
    return ConsumerAssignment(topic_partitions=found)
