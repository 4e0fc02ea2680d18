"""`kwire group seek` and `kwire group delete`.

Seeking is shown first and done only when asked for: it makes a group read again, or skip, what may
be a great many records. New offsets are kept within what the partitions hold.
"""

import argparse
import sys
from typing import NamedTuple

from kwire.cli.cluster import connect
from kwire.cli.failures import CommandFailed
from kwire.cli.group_offsets import Committed, committed_offsets, existing_topics
from kwire.cli.group_views import described
from kwire.cli.output import JSON, json_text, table
from kwire.codec.apis import DELETE_GROUPS, OFFSET_COMMIT
from kwire.codec.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kwire.codec.messages.offset_commit import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
)
from kwire.errors import ErrorCode
from kwire.peers.client import Client, TopicView
from kwire.peers.coordinators import ask_coordinator
from kwire.peers.failures import Refused, check
from kwire.peers.reader import EARLIEST, LATEST, offsets_at
from kwire.types import TopicPartition

EMPTY = "Empty"

_DELETE_HINTS = {
    ErrorCode.GROUP_ID_NOT_FOUND: "there is no such group",
    ErrorCode.NON_EMPTY_GROUP: "it has members: stop them first",
}


class Move(NamedTuple):
    """One partition's offset, before and after."""

    topic: str
    partition: int
    committed: int | None
    new: int


def seek(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        group = described(client, arguments.group)
        if arguments.execute and group is not None and group.group_state != EMPTY:
            raise CommandFailed(
                f"group {arguments.group} is {group.group_state}: stop its members first,"
                " they would overwrite the new offsets"
            )
        topics = _topics(client, arguments)
        moves = _plan(client, arguments, topics)
        if arguments.execute and moves:
            _commit(client, arguments.group, topics, moves)
    if arguments.format == JSON:
        print(json_text([move._asdict() for move in moves]))
    else:
        print(table(("TOPIC", "PARTITION", "COMMITTED", "NEW"), moves))
    if not arguments.execute:
        print("kwire group: nothing was changed; --execute does it", file=sys.stderr)
    return 0


def delete(arguments: argparse.Namespace) -> int:
    outcomes: list[tuple[str, int]] = []
    with connect(arguments) as client:
        for name in dict.fromkeys(arguments.groups):
            answer: DeleteGroupsResponse = ask_coordinator(
                client,
                name,
                DELETE_GROUPS,
                DeleteGroupsRequest(groups_names=[name]),
                lambda told: told.results[0].error_code,
            )
            outcomes.append((name, answer.results[0].error_code))
    tolerated = ErrorCode.GROUP_ID_NOT_FOUND if arguments.if_exists else None
    documents = [_deleted(name, code, tolerated) for name, code in outcomes]
    failed = [each["error"] for each in documents if each["error"]]
    if arguments.format == JSON:
        print(json_text(documents))
    else:
        for each in documents:
            if not each["error"]:
                print(f"{each['result']} {each['group']}")
    for error in failed:
        print(f"kwire group: {error}", file=sys.stderr)
    return 1 if failed else 0


def _deleted(name: str, code: int, tolerated: int | None) -> dict[str, str | None]:
    if code == ErrorCode.NONE:
        return {"group": name, "result": "deleted", "error": None}
    if code == tolerated:
        return {"group": name, "result": "missing", "error": None}
    hint = _DELETE_HINTS.get(ErrorCode(code))
    return {
        "group": name,
        "result": "failed",
        "error": str(Refused(code, hint, what=f"group {name}")),
    }


class _Chosen(NamedTuple):
    view: TopicView
    partitions: dict[int, Committed | None]


def _topics(client: Client, arguments: argparse.Namespace) -> dict[str, _Chosen]:
    """The partitions that are meant, with what is committed for them now."""
    committed = committed_offsets(client, arguments.group)
    wanted: dict[str, list[int] | None] = dict(arguments.topic)
    if not wanted:
        for at in committed:
            wanted[at.topic] = [*(wanted.get(at.topic) or []), at.partition]
    views = existing_topics(client, wanted)
    chosen = {}
    for name, indexes in wanted.items():
        if name not in views:
            raise CommandFailed(f"topic {name}: there is no such topic")
        leaders = views[name].leaders
        unknown = [index for index in indexes or () if index not in leaders]
        if unknown:
            raise CommandFailed(f"topic {name} has no partition {unknown[0]}")
        chosen[name] = _Chosen(
            views[name],
            {
                index: committed.get(TopicPartition(name, index))
                for index in sorted(leaders if indexes is None else indexes)
            },
        )
    return chosen


def _plan(client: Client, arguments: argparse.Namespace, topics: dict[str, _Chosen]) -> list[Move]:
    moves = []
    for name, (view, partitions) in sorted(topics.items()):
        first = offsets_at(client, view, dict.fromkeys(partitions, EARLIEST), committed=False)
        end = offsets_at(client, view, dict.fromkeys(partitions, LATEST), committed=False)
        if arguments.to is not None:
            aims = arguments.to.offsets(client, view, partitions, committed=False)
        else:
            aims = _shifted(name, partitions, arguments.shift_by)
        for index, committed in partitions.items():
            new = min(max(aims[index], first[index]), end[index])
            moves.append(Move(name, index, committed and committed.offset, new))
    return moves


def _shifted(topic: str, partitions: dict[int, Committed | None], records: int) -> dict[int, int]:
    aims = {}
    for index, committed in partitions.items():
        if committed is None:
            raise CommandFailed(
                f"topic {topic}, partition {index}: nothing is committed that could be shifted;"
                " use --to"
            )
        aims[index] = committed.offset + records
    return aims


def _commit(client: Client, group_id: str, topics: dict[str, _Chosen], moves: list[Move]) -> None:
    request = OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitTopic(
                name=name,
                topic_id=chosen.view.topic_id,
                partitions=[
                    OffsetCommitPartition(
                        partition_index=move.partition,
                        committed_offset=move.new,
                        committed_metadata="",
                    )
                    for move in moves
                    if move.topic == name
                ],
            )
            for name, chosen in topics.items()
        ],
    )
    answer: OffsetCommitResponse = ask_coordinator(
        client,
        group_id,
        OFFSET_COMMIT,
        request,
        lambda told: told.topics[0].partitions[0].error_code,
    )
    for topic in answer.topics:
        for told in topic.partitions:
            check(told.error_code, what=f"group {group_id}, partition {told.partition_index}")
