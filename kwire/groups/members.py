"""The members of one classic group: who they are, what they can, and what they wait for."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kwire.coordinator.decision import Asker
from kwire.errors import FencedInstanceId, UnknownMemberId


class JoinProtocol(NamedTuple):
    """A way to assign partitions that a member supports, with what it has to say for it."""

    name: str
    metadata: bytes


@dataclass(slots=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[JoinProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """Has never been part of a generation."""
    joining: Asker | None = None
    syncing: Asker | None = None

    @property
    def is_excused(self) -> bool:
        """A member whose request we hold cannot send heartbeats; a new one may be gone for good."""
        return not self.is_new and (self.joining is not None or self.syncing is not None)

    def metadata_for(self, protocol: str | None) -> bytes:
        return next((has.metadata for has in self.protocols if has.name == protocol), b"")

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate that this member likes best."""
        return next(has.name for has in self.protocols if has.name in candidates)


class Members:
    """All members by id. Three sets beside them say who is expected to do what next."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._static: dict[str, str] = {}
        self._supported: Counter[str] = Counter()
        self._joining: set[str] = set()
        self.leader: str | None = None
        self.pending: set[str] = set()
        """Ids that were handed out to members who have not joined with them yet."""
        self.not_synced: set[str] = set()
        """Members of the current generation who have not asked for their assignment yet."""

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._members

    def get(self, member_id: str) -> Member | None:
        return self._members.get(member_id)

    def __getitem__(self, member_id: str) -> Member:
        return self._members[member_id]

    @property
    def joining_count(self) -> int:
        return len(self._joining)

    @property
    def have_all_joined(self) -> bool:
        return len(self._joining) == len(self._members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any of them asks for."""
        return max((member.rebalance_timeout_ms for member in self), default=0)

    def static_member(self, instance_id: str) -> str | None:
        """The id of the member that holds a static member's place."""
        return self._static.get(instance_id)

    def check(self, member_id: str, instance_id: str | None) -> Member:
        """The member, unless it is unknown or another one has taken its static place (KIP-345)."""
        if instance_id is not None:
            holder = self._static.get(instance_id)
            if holder is None:
                raise UnknownMemberId()
            if holder != member_id:
                raise FencedInstanceId()
        member = self._members.get(member_id)
        if member is None:
            raise UnknownMemberId()
        return member

    def add(self, member: Member) -> None:
        assert member.member_id not in self._members
        self._members[member.member_id] = member
        self.pending.discard(member.member_id)
        if member.instance_id is not None:
            self._static[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self._supported.update(has.name for has in member.protocols)
        if member.joining is not None:
            self._joining.add(member.member_id)

    def remove(self, member_id: str) -> Member | None:
        """Take out a member, or an id that was handed out; the first one left leads instead."""
        self.pending.discard(member_id)
        self.not_synced.discard(member_id)
        member = self._members.pop(member_id, None)
        if member is None:
            return None
        self._joining.discard(member_id)
        self._supported.subtract(has.name for has in member.protocols)
        if member.instance_id is not None:
            self._static.pop(member.instance_id)
        if self.leader == member_id:
            self.leader = next(iter(self._members), None)
        return member

    def replace(self, old_id: str, new_id: str) -> Member:
        """Give a static member another id: its place, its assignment and its role stay."""
        was_leader = self.leader == old_id
        member = self.remove(old_id)
        assert member is not None
        member.member_id = new_id
        member.joining = member.syncing = None
        self.add(member)
        if was_leader:
            self.leader = new_id
        return member

    def update(
        self,
        member: Member,
        *,
        protocols: tuple[JoinProtocol, ...],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        joining: Asker,
    ) -> None:
        """A member joins again, perhaps with other abilities."""
        self._supported.subtract(has.name for has in member.protocols)
        self._supported.update(has.name for has in protocols)
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms
        member.joining = joining
        self._joining.add(member.member_id)

    def end_join(self, member: Member) -> Asker | None:
        """Stop waiting for the next generation; returns who must be told."""
        asker, member.joining = member.joining, None
        self._joining.discard(member.member_id)
        return asker

    def elect_leader(self) -> bool:
        """Let a member lead that has joined; says whether there is one."""
        if self.leader is None:
            return False
        if self.leader not in self._joining:
            joined = next((member for member in self if member.joining is not None), None)
            if joined is None:
                return False
            self.leader = joined.member_id
        return True

    def support_one_of(self, names: Iterable[str]) -> bool:
        """Whether every member supports at least one of these protocols."""
        return any(self._supported[name] == len(self._members) for name in names)

    def choose_protocol(self) -> str:
        """The protocol that all support and most like best; of equals the first one voted for."""
        count = len(self._members)
        candidates = {name for name, supports in self._supported.items() if supports == count}
        votes = Counter(member.vote(candidates) for member in self)
        return votes.most_common(1)[0][0]
