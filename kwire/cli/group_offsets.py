"""What a group has committed, as its coordinator tells it."""

from collections.abc import Iterable
from typing import NamedTuple

from kwire.codec.apis import OFFSET_FETCH
from kwire.codec.messages.offset_fetch import (
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kwire.errors import ErrorCode
from kwire.peers.client import Client, TopicView
from kwire.peers.coordinators import ask_coordinator
from kwire.peers.failures import check
from kwire.types import ZERO_UUID, TopicPartition

_NOTHING = -1


class Committed(NamedTuple):
    offset: int
    metadata: str


def committed_offsets(client: Client, group_id: str) -> dict[TopicPartition, Committed]:
    """Every offset of a group, in order."""
    # Newer brokers take many groups, older ones one; null asks for all topics.
    request = OffsetFetchRequest(
        group_id=group_id,
        topics=None,
        groups=[OffsetFetchGroup(group_id=group_id, topics=None)],
    )
    answer: OffsetFetchResponse = ask_coordinator(
        client, group_id, OFFSET_FETCH, request, _group_code
    )
    check(_group_code(answer), what=f"offsets of group {group_id}")
    topics = answer.groups[0].topics if answer.groups else answer.topics
    names = _names(client) if any(topic.topic_id != ZERO_UUID for topic in topics) else {}
    found = {}
    for topic in topics:
        name = topic.name or names.get(topic.topic_id, "")
        for told in topic.partitions:
            check(told.error_code, what=f"topic {name}, partition {told.partition_index}")
            if told.committed_offset != _NOTHING:
                at = TopicPartition(name, told.partition_index)
                found[at] = Committed(told.committed_offset, told.metadata or "")
    return dict(sorted(found.items()))


def existing_topics(client: Client, names: Iterable[str]) -> dict[str, TopicView]:
    """The topics among these that are there, with the leaders of their partitions."""
    wanted = sorted(set(names))
    if not wanted:
        return {}
    return {
        str(told.name): TopicView(
            str(told.name),
            told.topic_id,
            {
                each.partition_index: each.leader_id
                for each in told.partitions
                if each.leader_id >= 0
            },
        )
        for told in client.metadata(wanted).topics
        if told.error_code == ErrorCode.NONE
    }


def _group_code(answer: OffsetFetchResponse) -> int:
    return answer.groups[0].error_code if answer.groups else answer.error_code


def _names(client: Client) -> dict[bytes, str]:
    return {told.topic_id: told.name or "" for told in client.metadata(None).topics}
