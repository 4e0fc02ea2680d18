"""How long a broker that comes back needs until it knows its groups and their offsets again.

Meanwhile whoever asks for a group that is not loaded yet is told so, and comes back.
"""

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from compat_tests.crash.ledger import Broken
from compat_tests.faults.mortal import MortalBroker
from compat_tests.python_clients.confluent import Confluent
from kwire.codec.apis import (
    FIND_COORDINATOR,
    JOIN_GROUP,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    SYNC_GROUP,
    Api,
)
from kwire.codec.header import decode_response, encode_request
from kwire.codec.messages.join_group import JoinGroupProtocol
from kwire.codec.messages.offset_commit import OffsetCommitPartition, OffsetCommitTopic
from kwire.codec.messages.offset_fetch import OffsetFetchGroup
from kwire.codec.messages.sync_group import SyncGroupAssignment
from kwire.errors import ErrorCode

TOPIC = "read-by-many"
AT_ONCE = 200
"""So many requests are under way at a time."""
SAMPLE = 500
"""So many groups are asked for in one request: some of every shard, most likely."""
PAUSE_S = 0.02
"""Whoever is told to come back waits a little, or the asking would be what takes the time."""
SESSION_TIMEOUT_MS = 30 * 60 * 1000
PATIENCE_S = 60.0


class Summary(NamedTuple):
    groups: int
    offsets: int
    written_s: float
    served_s: float
    loaded_s: float
    refusals: int

    def __str__(self) -> str:
        return (
            f"{self.groups} groups with {self.offsets} offsets, written in {self.written_s:.1f} s:"
            f" served {self.served_s:.2f} s after the start, every group known"
            f" {self.loaded_s:.2f} s after that; {self.refusals} answers said"
            " COORDINATOR_LOAD_IN_PROGRESS, none was wrong"
        )


def run(data_dir: Path, groups: int, offsets_per_group: int) -> Summary:
    """Write the groups, kill the broker, and ask the next one for every group."""
    names = [f"group-{number}" for number in range(groups)]
    with MortalBroker(data_dir, {}) as broker:
        Confluent(broker.address).create(TOPIC, offsets_per_group)
        began = time.monotonic()
        with Wire(broker.address) as wire:
            for some in _slices(names, AT_ONCE):
                _write(wire, some, offsets_per_group)
        written_s = time.monotonic() - began
        broker.restart()
        began = time.monotonic()
        with Wire(broker.address) as wire:
            sample = names[:: max(len(names) // SAMPLE, 1)]
            refusals = _ask_until_known(wire, sample, offsets_per_group)
            loaded_s = time.monotonic() - began
            for some in _slices(names, SAMPLE):
                _ask_until_known(wire, some, offsets_per_group)
        return Summary(
            groups,
            groups * offsets_per_group,
            written_s,
            broker.slowest_start_s,
            loaded_s,
            refusals,
        )


class Wire:
    """One connection, on which many requests may be under way."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._stream = self._socket.makefile("rb")

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()
        self._socket.close()

    def ask(self, api: Api, version: int, asked: Sequence[dict[str, Any]]) -> list[Any]:
        """Send all of these, then read all the answers."""
        sent = bytearray()
        for fields in asked:
            content = b"".join(encode_request(api, version, 1, "loading", api.request(**fields)))
            sent += len(content).to_bytes(4, "big") + content
        self._socket.sendall(sent)
        return [self._answer(api, version) for _ in asked]

    def _answer(self, api: Api, version: int) -> Any:
        size = int.from_bytes(self._stream.read(4), "big")
        _, answer = decode_response(api, version, memoryview(self._stream.read(size)))
        return answer


def _write(wire: Wire, names: Sequence[str], offsets_per_group: int) -> None:
    """A group of one member each, which has committed all its offsets."""
    wire.ask(FIND_COORDINATOR, 1, [{"key": names[0], "key_type": 0}])
    joined = wire.ask(JOIN_GROUP, 3, [_joining(name) for name in names])
    _expect_success(joined)
    members = list(zip(names, (answer.member_id for answer in joined), strict=True))
    _expect_success(wire.ask(SYNC_GROUP, 1, [_syncing(*member) for member in members]))
    committing = [_committing(*member, offsets_per_group) for member in members]
    for answer in wire.ask(OFFSET_COMMIT, 6, committing):
        _expect_success(answer.topics[0].partitions)


def _joining(name: str) -> dict[str, Any]:
    return {
        "group_id": name,
        "session_timeout_ms": SESSION_TIMEOUT_MS,
        "rebalance_timeout_ms": SESSION_TIMEOUT_MS,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [JoinGroupProtocol(name="range", metadata=b"any")],
    }


def _syncing(name: str, member_id: str) -> dict[str, Any]:
    given = [SyncGroupAssignment(member_id=member_id, assignment=b"all")]
    return {"group_id": name, "generation_id": 1, "member_id": member_id, "assignments": given}


def _committing(name: str, member_id: str, offsets: int) -> dict[str, Any]:
    partitions = [
        OffsetCommitPartition(
            partition_index=index, committed_offset=_offset(name, index), committed_metadata=""
        )
        for index in range(offsets)
    ]
    return {
        "group_id": name,
        "generation_id_or_member_epoch": 1,
        "member_id": member_id,
        "topics": [OffsetCommitTopic(name=TOPIC, partitions=partitions)],
    }


def _offset(name: str, index: int) -> int:
    return int(name.split("-")[1]) * 100 + index


def _ask_until_known(wire: Wire, names: Sequence[str], offsets: int) -> int:
    """Ask for groups until all are known; returns how often one was still being loaded."""
    refusals = 0
    unknown = names
    pause = threading.Event()
    deadline = time.monotonic() + PATIENCE_S
    while unknown:
        if time.monotonic() > deadline:
            raise Broken(f"{len(unknown)} groups are still being loaded")
        asked = [OffsetFetchGroup(group_id=name, topics=None) for name in unknown]
        (answer,) = wire.ask(OFFSET_FETCH, 8, [{"groups": asked}])
        unknown = []
        for group in answer.groups:
            if group.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                unknown.append(group.group_id)
            else:
                _expect_offsets(group, offsets)
        if unknown:
            refusals += len(unknown)
            pause.wait(PAUSE_S)
    return refusals


def _expect_offsets(group: Any, offsets: int) -> None:
    found = {
        one.partition_index: one.committed_offset
        for topic in group.topics
        for one in topic.partitions
    }
    wanted = {index: _offset(group.group_id, index) for index in range(offsets)}
    if group.error_code != ErrorCode.NONE or found != wanted:
        raise Broken(f"{group.group_id} came back with {group.error_code} {found}")


def _expect_success(answers: Sequence[Any]) -> None:
    refused = [answer for answer in answers if answer.error_code != ErrorCode.NONE]
    if refused:
        raise Broken(f"{len(refused)} were refused, such as {refused[0]}")


def _slices(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))
