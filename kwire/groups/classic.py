"""A group of the classic protocol: its state, its generation, and how the log tells it.

                  first member joins            all have joined           leader has assigned
        Empty ──────────────────▶ PreparingRebalance ──────▶ CompletingRebalance ──────▶ Stable
          ▲                          │      ▲                        │                      │
          └──────────────────────────┘      └────────────────────────┴──────────────────────┘
               all members left                somebody comes, goes or changes its mind

Only finished generations are stored: with their assignments, or as empty. After a restart a group
that was rebalancing is in the generation before, and its members find out when they speak.
"""

from enum import Enum

from kwire.codec.internal.consumer_protocol import PROTOCOL_TYPE, subscribed_topics
from kwire.codec.internal.group_metadata import (
    NO_REBALANCE_TIMEOUT,
    NO_TIMESTAMP,
    GroupMetadataValue,
    StoredMember,
)
from kwire.codec.primitives import MalformedMessage
from kwire.groups.members import JoinProtocol, Member, Members


class GroupState(Enum):
    """The values are the names clients are told."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


LEGAL = {
    GroupState.EMPTY: {GroupState.PREPARING_REBALANCE},
    GroupState.PREPARING_REBALANCE: {GroupState.COMPLETING_REBALANCE, GroupState.EMPTY},
    GroupState.COMPLETING_REBALANCE: {GroupState.STABLE, GroupState.PREPARING_REBALANCE},
    GroupState.STABLE: {GroupState.PREPARING_REBALANCE},
}
"""What may follow on what while a group lives. The log may skip states: it does not have all."""


class ClassicGroup:
    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.members = Members()
        self.generation = 0
        self.protocol_type: str | None = None
        """Null for groups that only store offsets: they never had a member."""
        self.protocol_name: str | None = None
        self.state = GroupState.EMPTY
        self.since_ms = NO_TIMESTAMP
        """When the group came into its state, if that is known."""
        self.is_first_rebalance = False
        self.has_new_member = False
        """Somebody joined while the first rebalance was waiting for more."""

    def move_to(self, state: GroupState, now_ms: int) -> None:
        assert state in LEGAL[self.state], f"{self.state} cannot become {state}"
        self.is_first_rebalance = self.state is GroupState.EMPTY
        self.state = state
        self.since_ms = now_ms

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.members.add(member)

    def supports(self, protocol_type: str, names: list[str]) -> bool:
        """Whether somebody with these protocols can be a member beside those who are."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and names)
        return self.protocol_type == protocol_type and self.members.support_one_of(names)

    @property
    def is_of_consumers(self) -> bool:
        return self.protocol_type == PROTOCOL_TYPE

    def subscribed_topics(self) -> set[str] | None:
        """What the members want to read; null if they do not say it in a way we know."""
        if not self.is_of_consumers:
            return None
        topics: set[str] = set()
        for member in self.members:
            try:
                topics |= subscribed_topics(member.metadata_for(self.protocol_name))
            except MalformedMessage:
                return None
        return topics

    def subscribed_among(self, topics: set[str]) -> set[str]:
        """Which of these topics the group reads. In doubt consumers do: their offsets are kept."""
        subscribed = self.subscribed_topics()
        if subscribed is None:
            return topics if self.is_of_consumers else set()
        return topics & subscribed

    def describe_generation(
        self, generation: int, assignments: dict[str, bytes], now_ms: int
    ) -> GroupMetadataValue:
        """How the log tells a generation that is finished now."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=generation,
            protocol=self.protocol_name if self.members else None,
            leader=self.members.leader,
            current_state_timestamp=now_ms,
            members=[
                StoredMember(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.metadata_for(self.protocol_name),
                    assignment=assignments[member.member_id],
                )
                for member in self.members
            ],
        )

    def take_over(self, stored: GroupMetadataValue) -> None:
        """Be what the log says. Of members that it knows too, memory may know more; that stays."""
        self.protocol_type = stored.protocol_type or None
        self.protocol_name = stored.protocol
        self.generation = stored.generation
        self.since_ms = stored.current_state_timestamp
        self.state = GroupState.STABLE if stored.members else GroupState.EMPTY
        kept = {member.member_id for member in stored.members}
        for member in self.members:
            if member.member_id not in kept:
                self.members.remove(member.member_id)
        for one in stored.members:
            self._take_over_member(one)
        self.members.leader = stored.leader

    def _take_over_member(self, stored: StoredMember) -> None:
        known = self.members.get(stored.member_id)
        if known is None or known.metadata_for(self.protocol_name) != stored.subscription:
            self.members.remove(stored.member_id)
            timeout_ms = stored.rebalance_timeout
            if timeout_ms == NO_REBALANCE_TIMEOUT:
                timeout_ms = stored.session_timeout
            known = Member(
                stored.member_id,
                stored.group_instance_id,
                stored.client_id,
                stored.client_host,
                rebalance_timeout_ms=timeout_ms,
                session_timeout_ms=stored.session_timeout,
                protocols=(JoinProtocol(self.protocol_name or "", stored.subscription),),
            )
            self.members.add(known)
        known.assignment = stored.assignment
