"""How a group gets from one generation to the next: who is waited for, and for how long.

A `Rebalance` is one step: it changes what memory knows of one group and collects, in a decision,
what is to be written, answered and timed. The commands that start such steps are in `joining` and
`membership`; what the clock starts is here.
"""

import logging

from kwire.codec.internal import group_metadata
from kwire.config.broker import BrokerConfig
from kwire.coordinator.decision import Decision, TimerKey
from kwire.errors import ErrorCode
from kwire.groups.classic import LEGAL, ClassicGroup, GroupState
from kwire.groups.commands import (
    NO_MEMBER_ID,
    InitialDelayOver,
    JoinAnswer,
    JoinedMember,
    JoinOver,
    SessionOver,
    SyncAnswer,
    SyncOver,
)
from kwire.groups.members import Member

_log = logging.getLogger(__name__)


class Rebalance:
    def __init__(
        self, group: ClassicGroup, config: BrokerConfig, decision: Decision, now_ms: int
    ) -> None:
        self.group = group
        self.config = config
        self.decision = decision
        self.now_ms = now_ms

    def start_or_finish_joining(self, reason: str) -> None:
        """Something changed: rebalance, or go on with the rebalance that is under way."""
        if GroupState.PREPARING_REBALANCE in LEGAL[self.group.state]:
            self.start(reason)
        else:
            self.finish_joining_if_complete()

    def start(self, reason: str) -> None:
        """Make all members join again, and wait for them."""
        group = self.group
        if group.state is GroupState.COMPLETING_REBALANCE:
            self.cancel_syncs(ErrorCode.REBALANCE_IN_PROGRESS)
        self.decision.stop_timer(sync_timer(group.group_id))
        _log.info("rebalance group=%s generation=%d: %s", group.group_id, group.generation, reason)
        group.move_to(GroupState.PREPARING_REBALANCE, self.now_ms)
        if group.is_first_rebalance:
            delay_ms = self.config.group_initial_rebalance_delay_ms
            remaining_ms = max(group.members.rebalance_timeout_ms - delay_ms, 0)
            self._wait_for_more(delay_ms, remaining_ms)
        elif group.members.have_all_joined:
            self.finish_joining()
        else:
            self._wait_for_joins()

    def finish_joining_if_complete(self) -> None:
        """The first rebalance of a group always takes its whole delay."""
        group = self.group
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and not group.is_first_rebalance
            and group.members.have_all_joined
        ):
            self.finish_joining()

    def finish_joining(self) -> None:
        """Go on with those who have joined. Static members may be late, others are out."""
        group = self.group
        self.decision.stop_timer(join_timer(group.group_id))
        for member in group.members:
            if member.joining is None and member.instance_id is None:
                self.remove(member.member_id)
        if not group.members:
            self._become_empty()
        elif group.members.elect_leader():
            self._start_generation()
        else:
            # Only static members are left, and none is there: their sessions will run out.
            self._wait_for_joins()

    def remove(self, member_id: str) -> None:
        """Take a member out; one that waits for the next generation is told to start over."""
        member = self.group.members.get(member_id)
        if member is not None:
            self.answer_join(member, JoinAnswer(NO_MEMBER_ID, code=ErrorCode.UNKNOWN_MEMBER_ID))
        self.group.members.remove(member_id)
        self.decision.stop_timer(session_timer(self.group.group_id, member_id))

    def answer_join(self, member: Member, answer: JoinAnswer) -> None:
        asker = self.group.members.end_join(member)
        if asker is not None:
            self.decision.answer(asker, answer)

    def answer_sync(self, member: Member, code: ErrorCode) -> bool:
        """Refuse a member that waits for its assignment; says whether it did."""
        asker, member.syncing = member.syncing, None
        if asker is not None:
            self.decision.answer(asker, SyncAnswer(code))
        return asker is not None

    def joined(self, member: Member, *, skips_assignment: bool = False) -> JoinAnswer:
        """What a member of the current generation is told."""
        group = self.group
        protocol = group.protocol_name
        is_leader = group.members.leader == member.member_id
        return JoinAnswer(
            member.member_id,
            generation=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=protocol,
            leader=group.members.leader or NO_MEMBER_ID,
            members=[
                JoinedMember(one.member_id, one.instance_id, one.metadata_for(protocol))
                for one in (group.members if is_leader else ())
            ],
            skips_assignment=skips_assignment,
        )

    def cancel_syncs(self, code: ErrorCode) -> None:
        """There will be no assignment for this generation: tell everybody who waits for one."""
        for member in self.group.members:
            member.assignment = b""
            if self.answer_sync(member, code):
                self.restart_session(member)

    def restart_session(self, member: Member, timeout_ms: int | None = None) -> None:
        self.decision.start_timer(
            session_timer(self.group.group_id, member.member_id),
            member.session_timeout_ms if timeout_ms is None else timeout_ms,
            SessionOver(self.group.group_id, member.member_id),
        )

    def end_session(self, member_id: str) -> None:
        """Nothing was heard of a member for as long as it said it would take at most."""
        group = self.group
        member = group.members.get(member_id)
        if member is None:
            group.members.remove(member_id)
            self.finish_late_joining()
        elif not member.is_excused:
            self.remove(member_id)
            reason = f"{member_id} was silent for {member.session_timeout_ms} ms"
            if group.state is GroupState.PREPARING_REBALANCE:
                self.finish_late_joining()
            else:
                self.start(reason)

    def finish_late_joining(self) -> None:
        """Somebody we waited for is gone; the others need not wait any longer."""
        group = self.group
        if group.state is GroupState.PREPARING_REBALANCE and group.members.have_all_joined:
            self.finish_joining()

    def end_initial_delay(self, command: InitialDelayOver) -> None:
        group = self.group
        if group.has_new_member and command.remaining_ms > 0:
            group.has_new_member = False
            delay_ms = min(self.config.group_initial_rebalance_delay_ms, command.remaining_ms)
            self._wait_for_more(delay_ms, max(command.remaining_ms - command.delay_ms, 0))
        else:
            self.finish_joining()

    def end_sync_phase(self, command: SyncOver) -> None:
        group = self.group
        late = sorted(group.members.not_synced)
        if command.generation == group.generation and late:
            for member_id in late:
                self.remove(member_id)
            self.start(f"{', '.join(late)} did not ask for an assignment")

    def _wait_for_more(self, delay_ms: int, remaining_ms: int) -> None:
        group_id = self.group.group_id
        wake = InitialDelayOver(group_id, delay_ms, remaining_ms)
        self.decision.start_timer(join_timer(group_id), delay_ms, wake)

    def _wait_for_joins(self) -> None:
        group = self.group
        timeout_ms = group.members.rebalance_timeout_ms
        self.decision.start_timer(join_timer(group.group_id), timeout_ms, JoinOver(group.group_id))

    def _become_empty(self) -> None:
        group = self.group
        stored = group.describe_generation(group.generation + 1, {}, self.now_ms)
        self.decision.write(
            group_metadata.write_key(group.group_id), group_metadata.write_value(stored)
        )

    def _start_generation(self) -> None:
        """Tell everybody who joined; the leader is to hand in the assignment next."""
        group = self.group
        group.generation += 1
        group.protocol_name = group.members.choose_protocol()
        group.move_to(GroupState.COMPLETING_REBALANCE, self.now_ms)
        group.has_new_member = False
        for member in group.members:
            self.answer_join(member, self.joined(member))
            self.restart_session(member)
            member.is_new = False
            group.members.not_synced.add(member.member_id)
        self.decision.start_timer(
            sync_timer(group.group_id),
            group.members.rebalance_timeout_ms,
            SyncOver(group.group_id, group.generation),
        )


def session_timer(group_id: str, member_id: str) -> TimerKey:
    return ("session", group_id, member_id)


def join_timer(group_id: str) -> TimerKey:
    return ("join", group_id)


def sync_timer(group_id: str) -> TimerKey:
    return ("sync", group_id)
