"""All groups of the new protocol of one shard: what is asked of them, and what the log says."""

from collections.abc import Callable
from typing import Any

from kwire.codec.internal import consumer_group
from kwire.codec.internal.versioned import version_of
from kwire.config.broker import BrokerConfig
from kwire.controller.image import ClusterImage
from kwire.coordinator.decision import Asker, Decision, StoredRecord
from kwire.errors import (
    GroupIdNotFound,
    IllegalGeneration,
    StaleMemberEpoch,
    UnsupportedVersion,
)
from kwire.groups import classic_members, migration, modern_heartbeat
from kwire.groups.classic import ClassicGroup
from kwire.groups.commands import (
    ClassicMemberLate,
    Commit,
    ConsumerHeartbeat,
    Downgrade,
    Heartbeat,
    Join,
    Leave,
    OffsetToCommit,
    RevocationOver,
    SessionOver,
    Sync,
)
from kwire.groups.draft import Draft, downgrade_timer
from kwire.groups.modern import ModernGroup, group_of
from kwire.groups.modern_members import JOINS, IdPartition, ModernMember
from kwire.groups.turn import Turn
from kwire.types import ZERO_UUID


class ModernGroups:
    def __init__(
        self, config: BrokerConfig, image: ClusterImage, new_id: Callable[[], str]
    ) -> None:
        self._config = config
        self._image = image
        self._new_id = new_id
        self.groups: dict[str, ModernGroup] = {}

    def apply(self, record: StoredRecord) -> str:
        """Take over what the log says of one group; returns which one."""
        group_id = group_of(record.key)
        if record.value is None and version_of(record.key) == consumer_group.GROUP_KEY:
            self.groups.pop(group_id, None)
            return group_id
        group = self.groups.get(group_id)
        if group is None:
            if record.value is None:
                return group_id
            group = self.groups[group_id] = ModernGroup(group_id)
        group.apply(record.key, record.value)
        return group_id

    def find(self, group_id: str) -> ModernGroup:
        group = self.groups.get(group_id)
        if group is None:
            raise GroupIdNotFound(f"Consumer group {group_id} not found.")
        return group

    def loaded(self, decision: Decision, now_ms: int) -> None:
        """Every member gets a full session, and a full time to give away what it has to."""
        for group in self.groups.values():
            draft = Draft(group, self._config, self._image, decision, now_ms)
            for member in group.members.values():
                draft.restart_session(member)
                modern_heartbeat.expect_revocation(draft, member)
            self._plan_downgrade(draft)

    def decide(self, command: Any, turn: Turn) -> bool:
        """Carry out a command if it is for a member of one of these groups; says whether it was."""
        decide = _DECIDE.get(type(command))
        if decide is None:
            return False
        group = self.groups.get(command.group_id)
        if group is None:
            # Classic groups are asked for the same things; these only come from our own timers.
            return isinstance(command, RevocationOver | ClassicMemberLate)
        draft = self._draft(group, turn)
        decide(self, draft, command, turn.asker)
        self._plan_downgrade(draft, must_rebalance=not isinstance(command, Join))
        return True

    def heartbeat(
        self, command: ConsumerHeartbeat, classic: ClassicGroup | None, turn: Turn
    ) -> None:
        """Serve a member of the new protocol; `classic` is its group if that is a classic one."""
        if command.member_epoch != JOINS:
            draft = self._draft(self.find(command.group_id), turn)
        else:
            group = self.groups.get(command.group_id) or ModernGroup(command.group_id)
            draft = self._draft(group, turn)
        if command.member_epoch < JOINS:
            turn.decision.answer(turn.asker, modern_heartbeat.leave(draft, command))
            self._plan_downgrade(draft)
            return
        if classic is not None:
            migration.upgrade(classic, draft)
        member_id = command.member_id or self._new_id()
        turn.decision.answer(turn.asker, modern_heartbeat.heartbeat(draft, command, member_id))
        if classic is not None:
            migration.dismiss(classic, turn.decision)

    def delete(self, group: ModernGroup, turn: Turn) -> None:
        self._draft(group, turn).delete_group()

    def downgrade(self, command: Downgrade, turn: Turn) -> bool:
        """Make a group classic whose last member of the new protocol is gone; says if it was."""
        group = self.groups.get(command.group_id)
        if group is None or not migration.may_downgrade(group, self._config):
            return False
        migration.downgrade(self._draft(group, turn))
        turn.decision.start_timer(downgrade_timer(group.group_id), 0, command)
        return True

    def check_commit(self, group: ModernGroup, command: Commit) -> None:
        """A member that is behind may commit what it has had since its epoch (KIP-1251)."""
        if command.generation < 0 and not group.members:
            return
        member = group.member(command.member_id)
        if member.classic is None and not command.knows_new_groups:
            raise UnsupportedVersion(
                "OffsetCommit version 9 or above must be used by members of the new protocol."
            )
        if command.generation < member.epoch and member.classic is None:
            held = {**member.assigned, **member.pending_revocation}
            since = (held.get(self._by_id(one), member.epoch) for one in command.offsets)
            if all(epoch <= command.generation for epoch in since):
                return
        _check_epoch(member, command.generation)

    def check_transactional_commit(self, group: ModernGroup, command: Commit) -> None:
        """A producer that names no member is trusted; one that is behind is told in old words."""
        names_member = command.member_id or command.instance_id is not None
        if command.generation >= 0 or names_member:
            try:
                self.check_commit(group, command)
            except StaleMemberEpoch as refusal:
                raise IllegalGeneration(refusal.message) from refusal

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Only members that are up to date read what their group has committed, and outsiders."""
        group = self.groups.get(group_id)
        if group is not None and (member_id is not None or member_epoch >= 0):
            _check_epoch(group.member(member_id or ""), member_epoch)

    def _by_id(self, offset: OffsetToCommit) -> IdPartition:
        topic = self._image.topics.get(offset.topic)
        return IdPartition(topic.topic_id if topic else ZERO_UUID, offset.partition)

    def _join(self, draft: Draft, command: Join, asker: Asker) -> None:
        """Serve a classic member. A group that nobody is in is given up, and made anew by it."""
        if draft.group.members:
            draft.decision.answer(asker, classic_members.join(draft, command, self._new_id))
        else:
            draft.delete_group()
            draft.decision.decides_again = True

    def _sync(self, draft: Draft, command: Sync, asker: Asker) -> None:
        draft.decision.answer(asker, classic_members.sync(draft, command))

    def _classic_heartbeat(self, draft: Draft, command: Heartbeat, asker: Asker) -> None:
        draft.decision.answer(asker, classic_members.heartbeat(draft, command))

    def _leave(self, draft: Draft, command: Leave, asker: Asker) -> None:
        draft.decision.answer(asker, classic_members.leave(draft, command))

    def _end_session(self, draft: Draft, command: SessionOver, asker: Asker) -> None:
        modern_heartbeat.fence(draft, command.member_id, "it was silent for too long")

    def _end_waiting(self, draft: Draft, command: ClassicMemberLate, asker: Asker) -> None:
        modern_heartbeat.fence(draft, command.member_id, command.reason)

    def _end_revocation(self, draft: Draft, command: RevocationOver, asker: Asker) -> None:
        modern_heartbeat.end_revocation(draft, command)

    def _plan_downgrade(self, draft: Draft, *, must_rebalance: bool = True) -> None:
        """A group changes its protocol in a turn of its own, once the log has what led to it."""
        group = draft.group
        if migration.may_downgrade(group, self._config):
            timer = downgrade_timer(group.group_id)
            draft.decision.start_timer(timer, 0, Downgrade(group.group_id, must_rebalance))

    def _draft(self, group: ModernGroup, turn: Turn) -> Draft:
        return Draft(group, self._config, self._image, turn.decision, turn.now_ms)


_DECIDE: dict[type, Callable[[ModernGroups, Draft, Any, Asker], None]] = {
    Join: ModernGroups._join,
    Sync: ModernGroups._sync,
    Heartbeat: ModernGroups._classic_heartbeat,
    Leave: ModernGroups._leave,
    SessionOver: ModernGroups._end_session,
    ClassicMemberLate: ModernGroups._end_waiting,
    RevocationOver: ModernGroups._end_revocation,
}


def _check_epoch(member: ModernMember, epoch: int) -> None:
    if epoch == member.epoch:
        return
    told = f"The epoch {epoch} is not the expected member epoch {member.epoch}."
    raise StaleMemberEpoch(told) if member.classic is None else IllegalGeneration(told)
