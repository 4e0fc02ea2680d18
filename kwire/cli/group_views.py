"""`kwire group list` and `kwire group describe`."""

import argparse
import sys
from collections import Counter
from typing import Any, NamedTuple

from kwire.cli.cluster import connect
from kwire.cli.group_offsets import Committed, committed_offsets, existing_topics
from kwire.cli.output import JSON, Cell, json_text, table
from kwire.codec.apis import CONSUMER_GROUP_DESCRIBE, DESCRIBE_GROUPS, LIST_GROUPS
from kwire.codec.internal.consumer_protocol import (
    PROTOCOL_TYPE,
    NamedPartitions,
    read_assignment,
    write_assignment,
)
from kwire.codec.messages.consumer_group_describe import (
    ConsumerAssignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from kwire.codec.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kwire.codec.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kwire.codec.primitives import MalformedMessage
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.coordinators import ask_coordinator
from kwire.peers.failures import check
from kwire.peers.reader import LATEST, offsets_at
from kwire.types import TopicPartition

DEAD = "Dead"
"""How brokers tell of a group that does not exist."""


def list_groups(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        groups = _all_groups(client, arguments.state)
    if arguments.format == JSON:
        print(json_text([_summary(each) for each in groups]))
    else:
        rows = [
            (each.group_id, each.group_state or None, each.group_type or None, each.protocol_type)
            for each in groups
        ]
        print(table(("GROUP", "STATE", "TYPE", "PROTOCOL"), rows))
    return 0


def describe(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        names = list(dict.fromkeys(arguments.groups))
        if not names:
            names = [each.group_id for each in _all_groups(client, [])]
        told = {name: described(client, name) for name in names}
        found = [_describe(client, group) for group in told.values() if group is not None]
    if arguments.format == JSON:
        print(json_text([each.document() for each in found]))
    elif found:
        print("\n\n".join(each.text() for each in found))
    missing = [name for name, group in told.items() if group is None]
    for name in missing:
        print(f"kwire group: group {name}: there is no such group", file=sys.stderr)
    return 1 if missing else 0


def described(client: Client, group_id: str) -> DescribedGroup | None:
    """A group as its coordinator describes it, if there is one."""
    answer: DescribeGroupsResponse = ask_coordinator(
        client,
        group_id,
        DESCRIBE_GROUPS,
        DescribeGroupsRequest(groups=[group_id]),
        lambda told: told.groups[0].error_code,
    )
    (group,) = answer.groups
    if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        # Brokers that say so have groups of the new protocol too.
        return _described_modern(client, group_id)
    if group.group_state == DEAD:
        return None
    check(group.error_code, group.error_message, what=f"group {group_id}")
    return group


def _described_modern(client: Client, group_id: str) -> DescribedGroup | None:
    """A group of the new protocol (KIP-848), in the form in which classic ones are described."""
    answer: ConsumerGroupDescribeResponse = ask_coordinator(
        client,
        group_id,
        CONSUMER_GROUP_DESCRIBE,
        ConsumerGroupDescribeRequest(group_ids=[group_id]),
        lambda told: told.groups[0].error_code,
    )
    (group,) = answer.groups
    if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        return None
    check(group.error_code, group.error_message, what=f"group {group_id}")
    return DescribedGroup(
        group_id=group_id,
        group_state=group.group_state,
        protocol_type=PROTOCOL_TYPE,
        protocol_data=group.assignor_name,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_assignment=_packed(member.assignment),
            )
            for member in group.members
        ],
    )


def _packed(assignment: ConsumerAssignment) -> bytes:
    named = [
        NamedPartitions(topic=one.topic_name, partitions=one.partitions)
        for one in assignment.topic_partitions
    ]
    return write_assignment(named, b"\0\0")


class Row(NamedTuple):
    """One partition that a group has read or is about to."""

    at: TopicPartition
    committed: Committed | None
    end: int | None
    member: DescribedGroupMember | None

    @property
    def lag(self) -> int | None:
        if self.committed is None or self.end is None:
            return None
        return self.end - self.committed.offset

    def cells(self) -> tuple[Cell, ...]:
        member = self.member
        return (
            self.at.topic,
            self.at.partition,
            None if self.committed is None else self.committed.offset,
            self.end,
            self.lag,
            None if member is None else member.member_id,
            None if member is None else member.client_host.lstrip("/"),
        )

    def document(self) -> dict[str, Any]:
        return {
            "topic": self.at.topic,
            "partition": self.at.partition,
            "committed_offset": None if self.committed is None else self.committed.offset,
            "metadata": None if self.committed is None else self.committed.metadata,
            "latest_offset": self.end,
            "lag": self.lag,
            "member": None if self.member is None else self.member.member_id,
        }


class Description(NamedTuple):
    """One group with all that is shown of it."""

    group: DescribedGroup
    rows: list[Row]

    @property
    def lag(self) -> int:
        return sum(row.lag or 0 for row in self.rows)

    def document(self) -> dict[str, Any]:
        group = self.group
        return {
            "group": group.group_id,
            "state": group.group_state,
            "protocol_type": group.protocol_type,
            "protocol": group.protocol_data,
            "lag": self.lag,
            "members": [
                {
                    "member": member.member_id,
                    "instance": member.group_instance_id,
                    "client": member.client_id,
                    "host": member.client_host.lstrip("/"),
                }
                for member in group.members
            ],
            "partitions": [row.document() for row in self.rows],
        }

    def text(self) -> str:
        group = self.group
        protocol = " ".join(filter(None, (group.protocol_type, group.protocol_data)))
        lines = [
            f"Group:     {group.group_id}",
            f"State:     {group.group_state}",
            f"Protocol:  {protocol or '-'}",
            f"Members:   {len(group.members)}",
            f"Lag:       {self.lag}",
        ]
        if self.rows:
            titles = ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "HOST")
            lines += ["", table(titles, [row.cells() for row in self.rows])]
        idle = self._idle_members()
        if idle:
            lines += ["", f"without partitions: {', '.join(idle)}"]
        return "\n".join(lines)

    def _idle_members(self) -> list[str]:
        busy = Counter(row.member.member_id for row in self.rows if row.member is not None)
        return [one.member_id for one in self.group.members if one.member_id not in busy]


def _describe(client: Client, group: DescribedGroup) -> Description:
    readers = _readers(group)
    committed = committed_offsets(client, group.group_id)
    wanted = sorted({*readers, *committed})
    ends = _ends(client, wanted)
    rows = [Row(at, committed.get(at), ends.get(at), readers.get(at)) for at in wanted]
    return Description(group, rows)


def _readers(group: DescribedGroup) -> dict[TopicPartition, DescribedGroupMember]:
    """Who reads what, where members tell it in the consumers' way."""
    found: dict[TopicPartition, DescribedGroupMember] = {}
    if group.protocol_type == PROTOCOL_TYPE:
        for member in group.members:
            try:
                assigned = read_assignment(member.member_assignment)
            except MalformedMessage:
                continue
            for topic in assigned:
                found |= {TopicPartition(topic.topic, each): member for each in topic.partitions}
    return found


def _ends(client: Client, wanted: list[TopicPartition]) -> dict[TopicPartition, int]:
    """Where partitions end; those that do not exist any longer have no end."""
    found: dict[TopicPartition, int] = {}
    for name, topic in existing_topics(client, (at.topic for at in wanted)).items():
        indexes = [
            at.partition for at in wanted if at.topic == name and at.partition in topic.leaders
        ]
        ends = offsets_at(client, topic, dict.fromkeys(indexes, LATEST), committed=False)
        found |= {TopicPartition(name, index): end for index, end in ends.items()}
    return found


def _all_groups(client: Client, states: list[str]) -> list[ListedGroup]:
    """The groups of all brokers: each knows only those that it coordinates."""
    found: dict[str, ListedGroup] = {}
    for broker in client.metadata([]).brokers:
        request = ListGroupsRequest(states_filter=states)
        answer: ListGroupsResponse = client.ask_node(broker.node_id, LIST_GROUPS, request)
        check(answer.error_code, what=f"groups of node {broker.node_id}")
        found |= {each.group_id: each for each in answer.groups}
    return [found[name] for name in sorted(found)]


def _summary(group: ListedGroup) -> dict[str, Any]:
    return {
        "group": group.group_id,
        "state": group.group_state or None,
        "type": group.group_type or None,
        "protocol_type": group.protocol_type,
    }
