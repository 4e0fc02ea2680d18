"""All groups of one shard: which command goes to which group, and what the log makes of them."""

import logging
from collections.abc import Callable
from typing import Any

from kwire.codec.internal import group_metadata, offsets
from kwire.codec.internal.versioned import version_of
from kwire.config.broker import BrokerConfig
from kwire.config.keys import MINUTE_MS
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import Asker, Decision, StoredRecord
from kwire.errors import (
    ErrorCode,
    GroupIdNotFound,
    IllegalGeneration,
    NonEmptyGroup,
    RebalanceInProgress,
    UnknownMemberId,
)
from kwire.groups import commands, expiry, joining, membership, modern, transactional
from kwire.groups.classic import ClassicGroup, GroupState
from kwire.groups.commands import NO_MEMBER_ID, JoinAnswer
from kwire.groups.modern import ModernState
from kwire.groups.modern_groups import ModernGroups
from kwire.groups.offsets import Offsets, commit, forget
from kwire.groups.rebalance import Rebalance
from kwire.groups.turn import Turn
from kwire.types import TopicPartition

RETENTION_TIMER = "retention"
_EMPTY = (GroupState.EMPTY, ModernState.EMPTY)

_log = logging.getLogger(__name__)


class Groups:
    """A coordinator's state machine: `decide`, then `apply`. It does no input or output."""

    def __init__(
        self, config: BrokerConfig, image: ClusterImage, new_id: Callable[[], str]
    ) -> None:
        self._config = config
        self._new_id = new_id
        self.groups: dict[str, ClassicGroup] = {}
        """The classic ones; a group is either here or among the modern ones."""
        self.modern = ModernGroups(config, image, new_id)
        self.offsets = Offsets()

    def decide(self, command: Any, asker: Asker, now_ms: int) -> Decision:
        turn = Turn(asker, Decision(), now_ms)
        if not self.modern.decide(command, turn):
            _DECIDE[type(command)](self, command, turn)
        return turn.decision

    def apply(self, record: StoredRecord) -> None:
        """Take over one record. What other kinds of groups store is not ours to understand."""
        version = version_of(record.key)
        if version in offsets.KEY_VERSIONS:
            group_id = self.offsets.apply(record)
            if record.value is not None:
                self._ensure_group(group_id)
        elif version == group_metadata.KEY_VERSION:
            group_id = group_metadata.read_key(record.key)
            if record.value is None:
                self.groups.pop(group_id, None)
            else:
                group = self.groups.setdefault(group_id, ClassicGroup(group_id))
                group.take_over(group_metadata.read_value(record.value))
        elif version in modern.KEY_VERSIONS:
            group_id = self.modern.apply(record)
            if group_id in self.modern.groups:
                self.groups.pop(group_id, None)
            elif self.offsets.of(group_id):
                self._ensure_group(group_id)

    def _ensure_group(self, group_id: str) -> None:
        """Offsets belong to a group; one that nobody has joined is a classic one."""
        if group_id not in self.groups and group_id not in self.modern.groups:
            self.groups[group_id] = ClassicGroup(group_id)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        self.offsets.end_transaction(producer_id, is_committed=is_committed)

    def loaded(self, now_ms: int) -> Decision:
        """Every member gets a full session to show up again."""
        decision = Decision()
        self._plan_expiry(decision)
        for group in self.groups.values():
            step = Rebalance(group, self._config, decision, now_ms)
            for member in group.members:
                step.restart_session(member)
            if len(group.members) > self._config.group_max_size:
                step.start("the group is larger than group.max.size allows")
        self.modern.loaded(decision, now_ms)
        return decision

    def unloaded(self) -> Decision:
        """Whoever waits is to look for another coordinator."""
        decision = Decision()
        for group in self.groups.values():
            step = Rebalance(group, self._config, decision, 0)
            for member in group.members:
                not_here = JoinAnswer(member.member_id, code=ErrorCode.NOT_COORDINATOR)
                step.answer_join(member, not_here)
                step.answer_sync(member, ErrorCode.NOT_COORDINATOR)
        return decision

    def find(self, group_id: str) -> ClassicGroup:
        group = self.groups.get(group_id)
        if group is None:
            is_modern = group_id in self.modern.groups
            reason = "is not a classic group" if is_modern else "not found"
            raise GroupIdNotFound(f"Group {group_id} {reason}.")
        return group

    def _consumer_heartbeat(self, command: commands.ConsumerHeartbeat, turn: Turn) -> None:
        classic = self.groups.get(command.group_id)
        self.modern.heartbeat(command, classic, turn)

    def _downgrade(self, command: commands.Downgrade, turn: Turn) -> None:
        """Store a group as a classic one, and serve it as such in the turn that follows."""
        if self.modern.downgrade(command, turn) or command.group_id not in self.groups:
            return
        step = self._step(self.groups[command.group_id], turn)
        for member in step.group.members:
            step.restart_session(member)
        if command.must_rebalance:
            step.start_or_finish_joining("the last member of the new protocol is gone")

    def _join(self, command: commands.Join, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        if group is not None:
            step = self._step(group, turn)
            joining.join(step, command, turn.asker, self._new_id)
        elif command.member_id != NO_MEMBER_ID:
            refusal = JoinAnswer(command.member_id, code=ErrorCode.UNKNOWN_MEMBER_ID)
            turn.decision.answer(turn.asker, refusal)
        else:
            # The log learns of a group before anybody is in it.
            stored = ClassicGroup(command.group_id).describe_generation(0, {}, turn.now_ms)
            turn.decision.write(
                group_metadata.write_key(command.group_id), group_metadata.write_value(stored)
            )
            turn.decision.decides_again = True

    def _sync(self, command: commands.Sync, turn: Turn) -> None:
        step = self._step(self._of_member(command.group_id), turn)
        membership.sync(step, command, turn.asker)

    def _heartbeat(self, command: commands.Heartbeat, turn: Turn) -> None:
        step = self._step(self._of_member(command.group_id), turn)
        turn.decision.answer(turn.asker, membership.heartbeat(step, command))

    def _leave(self, command: commands.Leave, turn: Turn) -> None:
        step = self._step(self._of_member(command.group_id), turn)
        turn.decision.answer(turn.asker, membership.leave(step, command))

    def _commit(self, command: commands.Commit, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        found = self.modern.groups.get(command.group_id)
        if found is not None:
            self.modern.check_commit(found, command)
        elif group is not None:
            _check_commit(group, command)
            member = group.members.get(command.member_id)
            if member is not None:
                # Whoever commits is alive.
                self._step(group, turn).restart_session(member)
        elif command.generation >= 0:
            raise GroupIdNotFound() if command.knows_new_groups else IllegalGeneration()
        turn.decision.answer(turn.asker, commit(command, self._config, turn.decision, turn.now_ms))

    def _commit_in_transaction(
        self, command: transactional.TransactionalCommit, turn: Turn
    ) -> None:
        found = self.modern.groups.get(command.group_id)
        if found is not None:
            self.modern.check_transactional_commit(found, command.commit)
        else:
            transactional.check(self.groups.get(command.group_id), command.commit)
        codes = transactional.commit_in_transaction(
            command, self._config, turn.decision, turn.now_ms
        )
        turn.decision.answer(turn.asker, codes)

    def _end_transaction(self, command: transactional.EndTransaction, turn: Turn) -> None:
        turn.decision.end_transaction(command.end)
        turn.decision.answer(turn.asker, None)

    def _delete_offsets(self, command: commands.DeleteOffsets, turn: Turn) -> None:
        found = self.modern.groups.get(command.group_id)
        if found is not None:
            subscribed = found.subscribed_topics()
        else:
            group = self.find(command.group_id)
            if group.state is not GroupState.EMPTY and not group.is_of_consumers:
                raise NonEmptyGroup()
            subscribed = group.subscribed_among({topic for topic, _ in command.partitions})
        stored = set(self.offsets.partitions_of(command.group_id))
        codes = []
        for topic, index in command.partitions:
            if topic in subscribed:
                codes.append(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
                continue
            codes.append(ErrorCode.NONE)
            if TopicPartition(topic, index) in stored:
                forget(command.group_id, TopicPartition(topic, index), turn.decision)
        turn.decision.answer(turn.asker, codes)

    def _delete_group(self, command: commands.DeleteGroup, turn: Turn) -> None:
        found = self.modern.groups.get(command.group_id)
        if (found or self.find(command.group_id)).state not in _EMPTY:
            raise NonEmptyGroup()
        for partition in self.offsets.partitions_of(command.group_id):
            forget(command.group_id, partition, turn.decision)
        if found is not None:
            self.modern.delete(found, turn)
        else:
            turn.decision.write(group_metadata.write_key(command.group_id), None)
        turn.decision.answer(turn.asker, None)

    def _end_session(self, command: commands.SessionOver, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        if group is not None:
            self._step(group, turn).end_session(command.member_id)

    def _end_initial_delay(self, command: commands.InitialDelayOver, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        if group is not None:
            self._step(group, turn).end_initial_delay(command)

    def _end_join(self, command: commands.JoinOver, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        if group is not None:
            self._step(group, turn).finish_joining()

    def _end_sync(self, command: commands.SyncOver, turn: Turn) -> None:
        group = self.groups.get(command.group_id)
        if group is not None:
            self._step(group, turn).end_sync_phase(command)

    def _expire(self, command: commands.ExpireOffsets, turn: Turn) -> None:
        retention_ms = self._config.offsets_retention_minutes * MINUTE_MS
        for group_id, group in self.groups.items():
            gone = expiry.expired(
                group, self.offsets, retention_ms=retention_ms, now_ms=turn.now_ms
            )
            for partition in gone:
                forget(group_id, partition, turn.decision)
            if expiry.is_abandoned(group, self.offsets, gone):
                turn.decision.write(group_metadata.write_key(group_id), None)
        for group_id, found in self.modern.groups.items():
            gone = expiry.expired_in_modern(
                found, self.offsets, retention_ms=retention_ms, now_ms=turn.now_ms
            )
            for partition in gone:
                forget(group_id, partition, turn.decision)
            if expiry.is_abandoned(found, self.offsets, gone):
                self.modern.delete(found, turn)
        if turn.decision.records:
            _log.info("offsets and groups expired records=%d", len(turn.decision.records))
        self._plan_expiry(turn.decision)

    def _forget_topics(self, command: commands.ForgetTopics, turn: Turn) -> None:
        for group_id, partition in self.offsets.with_topics(command.topics):
            forget(group_id, partition, turn.decision)

    def _plan_expiry(self, decision: Decision) -> None:
        interval_ms = self._config.offsets_retention_check_interval_ms
        decision.start_timer(RETENTION_TIMER, interval_ms, commands.ExpireOffsets())

    def _step(self, group: ClassicGroup, turn: Turn) -> Rebalance:
        return Rebalance(group, self._config, turn.decision, turn.now_ms)

    def _of_member(self, group_id: str) -> ClassicGroup:
        """The group that somebody says to be a member of."""
        group = self.groups.get(group_id)
        if group is None:
            raise UnknownMemberId()
        return group


def _check_commit(group: ClassicGroup, command: commands.Commit) -> None:
    """Members commit for their generation; others only while a group has no members."""
    if command.generation < 0 and group.state is GroupState.EMPTY:
        return
    is_member = command.generation >= 0 or command.member_id or command.instance_id is not None
    if not is_member:
        raise UnknownMemberId()
    group.members.check(command.member_id, command.instance_id)
    if command.generation != group.generation:
        raise IllegalGeneration()
    if group.state is GroupState.COMPLETING_REBALANCE:
        raise RebalanceInProgress()


_DECIDE: dict[type, Callable[[Groups, Any, Turn], None]] = {
    commands.Join: Groups._join,
    commands.ConsumerHeartbeat: Groups._consumer_heartbeat,
    commands.Downgrade: Groups._downgrade,
    commands.Sync: Groups._sync,
    commands.Heartbeat: Groups._heartbeat,
    commands.Leave: Groups._leave,
    commands.Commit: Groups._commit,
    transactional.TransactionalCommit: Groups._commit_in_transaction,
    transactional.EndTransaction: Groups._end_transaction,
    commands.DeleteOffsets: Groups._delete_offsets,
    commands.DeleteGroup: Groups._delete_group,
    commands.SessionOver: Groups._end_session,
    commands.InitialDelayOver: Groups._end_initial_delay,
    commands.JoinOver: Groups._end_join,
    commands.SyncOver: Groups._end_sync,
    commands.ExpireOffsets: Groups._expire,
    commands.ForgetTopics: Groups._forget_topics,
}
