"""A shard of groups on a stage: its log is a list, its clock stands still, and stories are played.

A story has a command and what it leads to on each line:

    join a                     -> MEMBER_ID_REQUIRED a-1
    join a                     -> waits
    pass 0                     -> a: 1 range leads a-1
    sync a a=x                 -> x

Members are called by their client ids; the stage knows their member ids and generations from the
answers they got, unless the story gives others (`id=`, `gen=`, `instance=`). What others are told
meanwhile follows after a semicolon. `-` stands for somebody who is no member of the group.

Members of the new protocol make up their ids, which are their names, and know their epochs:

    topic t 6                  ->
    beat a                     -> 2 t:0,1,2,3,4,5
    beat b                     -> 3 nothing
    beat a                     -> 2 t:0,2,4
    beat a owned=t:0,2,4       -> 3
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from kwire.clock import ManualClock
from kwire.codec.internal import group_metadata, offsets
from kwire.codec.internal.versioned import version_of
from kwire.config.broker import resolve_broker
from kwire.controller.image import ClusterImage, ImageChange, PartitionState, TopicImage
from kwire.coordinator.decision import StoredRecord
from kwire.coordinator.shard import Shard
from kwire.coordinator.timers import Timers
from kwire.errors import ErrorCode, KwireError
from kwire.groups import commands
from kwire.groups.groups import Groups
from kwire.groups.members import JoinProtocol
from kwire.tasks import Later, now
from kwire.tests.groups.words import by_id, by_name, packed, subscription, topic_id, unpacked
from kwire.tests.handlers.nodes import ManualScheduler

GROUP = "g"
SESSION_MS = 10_000
REBALANCE_MS = 60_000


class MemoryJournal:
    """A log that takes everything at once, unless it is told to wait or to refuse."""

    def __init__(self) -> None:
        self.records: list[StoredRecord] = []
        self.refusal: KwireError | None = None
        self.is_slow = False
        self._waiting: list[tuple[Later[int | KwireError], int]] = []

    def append(self, records: Sequence[StoredRecord], now_ms: int) -> Later[int | KwireError]:
        if self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            return now(refusal)
        base_offset = len(self.records)
        self.records += [
            record._replace(offset=base_offset + delta) for delta, record in enumerate(records)
        ]
        if not self.is_slow:
            return now(base_offset)
        later: Later[int | KwireError] = Later()
        self._waiting.append((later, base_offset))
        return later

    def catch_up(self) -> None:
        """What was written is durable now."""
        waiting, self._waiting = self._waiting, []
        for later, base_offset in waiting:
            later.complete(base_offset)


@dataclass
class _Actor:
    member_id: str = ""
    generation: int = -1


class _Refused(KwireError):
    def __init__(self, code: ErrorCode) -> None:
        super().__init__()
        self.code = code  # type: ignore[misc]  # the stage makes refusals of any kind


class Stage:
    def __init__(self, **settings: object) -> None:
        texts = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.config = resolve_broker(texts)
        self.image = ClusterImage("on stage")
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.journal = MemoryJournal()
        self._actors: dict[str, _Actor] = {}
        self._told: list[tuple[str, str]] = []
        ids = count(1)
        self._new_id: Callable[[], str] = lambda: str(next(ids))
        self.groups, self.shard = self._open()

    def play(self, story: str) -> None:
        """Play each line, and compare what happens with what the line says."""
        for line in filter(None, map(str.strip, story.splitlines())):
            command, _, expected = line.partition("->")
            happened = self.step(command)
            assert happened == expected.strip(), f"{command.strip()} -> {happened}"

    def step(self, line: str) -> str:
        """Carry out one line; returns what its actor is told, and then what others are."""
        verb, *words = line.split()
        self._told = []
        method = getattr(self, "_" + verb.replace("-", "_"))
        own: str | None = method(*words)
        others = [f"{name}: {text}" for name, text in sorted(self._told)]
        return "; ".join([own, *others] if own is not None else others)

    def _open(self) -> tuple[Groups, Shard[Groups]]:
        groups = Groups(self.config, self.image, self._new_id)
        shard = Shard(groups, self.journal, Timers(self.scheduler, self.clock), self.clock)
        for record in self.journal.records:
            groups.apply(record)
        shard.finish_loading(None)
        return groups, shard

    def _submit(self, name: str, command: Any, show: Callable[[Any], str]) -> str:
        """Ask for something; whoever is answered later is heard as one of the others."""
        answered = self.shard.submit(command)
        if answered.done:
            return self._show(answered.value, show)
        answered.then(lambda answer: self._told.append((name, self._show(answer, show))))
        return "waits"

    def _show(self, answer: Any, show: Callable[[Any], str]) -> str:
        return answer.code.name if isinstance(answer, KwireError) else show(answer)

    def _actor(self, name: str) -> _Actor:
        return self._actors.setdefault(name, _Actor())

    def _join(self, name: str, *words: str) -> str:
        given = _options(words)
        actor = self._actor(name)
        topics = given.get("topics", "t").split(",")
        names = [one for one in given.get("protocols", "range").split(",") if one]
        session_ms = int(given.get("session", SESSION_MS))
        version = int(given.get("version", 9))
        command = commands.Join(
            GROUP,
            given.get("id", actor.member_id),
            name,
            "/127.0.0.1",
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=int(given.get("rebalance", REBALANCE_MS)),
            protocol_type=given.get("type", "consumer"),
            protocols=tuple(
                JoinProtocol(one, subscription(*topics, owned=given.get("owned"))) for one in names
            ),
            instance_id=given.get("instance"),
            must_know_its_id=version >= 4,
            may_skip_assignment=version >= 9,
        )

        def show(answer: commands.JoinAnswer) -> str:
            actor.member_id = answer.member_id
            if answer.code != ErrorCode.NONE:
                return f"{answer.code.name} {answer.member_id}".strip()
            actor.generation = answer.generation
            role = f"follows {answer.leader or 'nobody'}"
            if answer.members or answer.leader == answer.member_id:
                role = "leads " + ",".join(one.member_id for one in answer.members)
            skips = ", skips assignment" if answer.skips_assignment else ""
            return f"{answer.generation} {answer.protocol_name} {role}{skips}"

        return self._submit(name, command, show)

    def _sync(self, name: str, *words: str) -> str:
        given = _options(words)
        actor = self._actor(name)
        command = commands.Sync(
            GROUP,
            given.pop("id", actor.member_id),
            int(given.pop("gen", actor.generation)),
            instance_id=given.pop("instance", None),
            protocol_type=given.pop("type", None),
            protocol_name=given.pop("protocol", None),
            assignments={self._actor(one).member_id: packed(text) for one, text in given.items()},
        )

        def show(answer: commands.SyncAnswer) -> str:
            if answer.code != ErrorCode.NONE:
                return answer.code.name
            return unpacked(answer.assignment)

        return self._submit(name, command, show)

    def _heartbeat(self, name: str, *words: str) -> str:
        given = _options(words)
        actor = self._actor(name)
        command = commands.Heartbeat(
            given.get("group", GROUP),
            given.get("id", actor.member_id),
            int(given.get("gen", actor.generation)),
            given.get("instance"),
        )
        return self._submit(name, command, lambda code: code.name)

    def _leave(self, *words: str) -> str:
        """Each word is a member: by name, as id=, or as instance=."""
        leaving = []
        for word in words:
            kind, _, value = word.rpartition("=")
            if kind == "instance":
                leaving.append(commands.LeavingMember("", value))
            elif kind == "id":
                leaving.append(commands.LeavingMember(value))
            else:
                actor, _, instance = value.partition("/")
                known = self._actor(actor).member_id
                leaving.append(commands.LeavingMember(known, instance or None))
        command = commands.Leave(GROUP, tuple(leaving))
        return self._submit("-", command, _show_codes)

    def _commit(self, name: str, *words: str) -> str:
        given = _options(words)
        actor = self._actor(name)
        command = commands.Commit(
            GROUP,
            member_id=given.pop("id", actor.member_id),
            generation=int(given.pop("gen", actor.generation)),
            instance_id=given.pop("instance", None),
            retention_ms=int(given.pop("retention")) if "retention" in given else None,
            knows_new_groups=int(given.pop("version", 9)) >= 9,
            offsets=tuple(_offset(at, text) for at, text in given.items()),
        )
        return self._submit(name, command, _show_codes)

    def _beat(self, name: str, *words: str) -> str:
        """A heartbeat of the new protocol; the first one joins, and so says everything."""
        given = _options(words)
        actor = self._actor(name)
        actor.member_id = actor.member_id or name
        epoch = int(given.get("epoch", max(actor.generation, 0)))
        if epoch == 0:
            given = {"timeout": str(REBALANCE_MS), "owned": "nothing", **given}
            if "regex" not in given:
                given.setdefault("topics", "t")
        topics = given.get("topics")
        command = commands.ConsumerHeartbeat(
            given.get("group", GROUP),
            given.get("id", actor.member_id),
            epoch,
            name,
            "/127.0.0.1",
            instance_id=given.get("instance"),
            rebalance_timeout_ms=int(given["timeout"]) if "timeout" in given else None,
            topics=None if topics is None else frozenset(filter(None, topics.split(","))),
            regex=given.get("regex"),
            assignor=given.get("assignor"),
            owned=by_id(given["owned"]) if "owned" in given else None,
        )

        def show(answer: commands.ConsumerHeartbeatAnswer) -> str:
            actor.generation = max(answer.member_epoch, -1)
            if answer.assigned is None:
                return str(answer.member_epoch)
            return f"{answer.member_epoch} {by_name(answer.assigned)}"

        return self._submit(name, command, show)

    def _topic(self, name: str, partitions: str) -> None:
        """A topic is made, or gets more partitions."""
        states = {index: PartitionState((1,), (1,), 1) for index in range(int(partitions))}
        topic = TopicImage(name, topic_id(name), states)
        self.image.apply(ImageChange(topics=(topic,)))

    def _drop(self, name: str) -> None:
        self.image.apply(ImageChange(deleted=(self.image.topics[name],)))

    def _group(self) -> str:
        """How far a group of the new protocol is: its state, its epoch, that of its target."""
        group = self.groups.modern.groups.get(GROUP)
        if group is None:
            return "none"
        return f"{group.state.value} {group.epoch} {group.assignment_epoch}"

    def _member(self, name: str) -> str:
        """How far a member is: its state and epoch, what it has, and what it is to give away."""
        member = self.groups.modern.groups[GROUP].members.get(self._actor(name).member_id or name)
        if member is None:
            return "none"
        parts = [member.state.name.split("_")[0].lower(), str(member.epoch)]
        parts.append(by_name(member.assigned))
        if member.pending_revocation:
            parts.append(f"gives {by_name(member.pending_revocation)}")
        return " ".join(parts)

    def _target(self, name: str) -> str:
        targets = self.groups.modern.groups[GROUP].targets
        return by_name(targets[self._actor(name).member_id])

    def _delete_group(self) -> str:
        return self._submit("-", commands.DeleteGroup(GROUP), lambda _: "NONE")

    def _delete_offsets(self, *words: str) -> str:
        partitions = [(topic, int(index)) for topic, index in (one.split("/") for one in words)]
        command = commands.DeleteOffsets(GROUP, tuple(partitions))
        return self._submit("-", command, _show_codes)

    def _forget_topic(self, topic: str) -> None:
        self.shard.remind(commands.ForgetTopics(frozenset({topic})))

    def _pass(self, ms: str) -> None:
        self.scheduler.pass_time(int(ms))

    def _reload(self) -> None:
        """The broker is started anew: only what the log holds is left."""
        self.shard.close()
        self._told = []
        self.groups, self.shard = self._open()

    def _close(self) -> None:
        self.shard.close()

    def _refuse_writes(self, code: str) -> None:
        self.journal.refusal = _Refused(ErrorCode[code])

    def _write_slowly(self) -> None:
        self.journal.is_slow = True

    def _catch_up(self) -> None:
        self.journal.catch_up()

    def _state(self) -> str:
        group = self.groups.groups.get(GROUP)
        if group is None:
            return "Dead"
        members = ",".join(sorted(member.member_id for member in group.members))
        parts = [group.state.value, str(group.generation), group.protocol_name or "-"]
        return " ".join([*parts, members, f"leader {group.members.leader}"] if members else parts)

    def _assigned(self) -> str:
        group = self.groups.groups[GROUP]
        return " ".join(f"{one.member_id}={one.assignment.decode()}" for one in group.members)

    def _offsets(self) -> str:
        found = self.groups.offsets.of(GROUP)
        return " ".join(f"{at.topic}/{at.partition}={one.offset}" for at, one in found.items())

    def _written(self) -> str:
        """What the log got since the last time this was asked."""
        texts = " ".join(_record(record) for record in self.journal.records)
        self.journal.records.clear()
        return texts


def _options(words: Sequence[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def _offset(at: str, text: str) -> commands.OffsetToCommit:
    topic, _, index = at.partition("/")
    offset, _, metadata = text.partition(":")
    return commands.OffsetToCommit(topic, int(index), int(offset), metadata=metadata)


def _show_codes(codes: list[ErrorCode]) -> str:
    return " ".join(code.name for code in codes)


def _record(record: StoredRecord) -> str:
    if version_of(record.key) in offsets.KEY_VERSIONS:
        key = offsets.read_key(record.key)
        value = "gone" if record.value is None else str(offsets.read_value(record.value).offset)
        return f"{key.topic}/{key.partition}={value}"
    group_id = group_metadata.read_key(record.key)
    if record.value is None:
        return f"{group_id}=gone"
    stored = group_metadata.read_value(record.value)
    return f"{group_id}={stored.generation}[{','.join(one.member_id for one in stored.members)}]"


def stories(text: str) -> list[ParameterSet]:
    """The rows of a table of stories: each begins with its title, on a line that starts with #."""
    rows = []
    for row in text.split("\n# ")[1:]:
        title, _, story = row.partition("\n")
        rows.append(pytest.param(story, id=title.strip()))
    return rows
