"""What group coordinators are asked to do, in our own words, and what they answer.

The first part comes from clients, the second from the clock and the cluster. Joining and syncing
have answers of their own, since a refusal tells a member its id too; everything else is refused by
a `KwireError`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kwire.errors import ErrorCode
from kwire.groups.members import JoinProtocol
from kwire.groups.modern_members import JOINS, Partitions

NO_MEMBER_ID = ""
NO_GENERATION = -1


class Join(NamedTuple):
    group_id: str
    member_id: str
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    instance_id: str | None = None
    reason: str = "not provided"
    must_know_its_id: bool = True
    """A new member is told its id first, and joins again with it (KIP-394)."""
    may_skip_assignment: bool = False
    """A leader that comes back may be told to leave the assignment as it is (KIP-814)."""


class JoinedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinAnswer(NamedTuple):
    member_id: str
    code: ErrorCode = ErrorCode.NONE
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = NO_MEMBER_ID
    members: Sequence[JoinedMember] = ()
    """Only the leader is told who is in the group."""
    skips_assignment: bool = False


class Sync(NamedTuple):
    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, bytes] = MappingProxyType({})


class SyncAnswer(NamedTuple):
    code: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class Heartbeat(NamedTuple):
    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None


class LeavingMember(NamedTuple):
    member_id: str
    instance_id: str | None = None
    reason: str = "not provided"


class Leave(NamedTuple):
    """Answered with one error code for each member."""

    group_id: str
    members: tuple[LeavingMember, ...]


class ConsumerHeartbeat(NamedTuple):
    """A member of the new protocol joins, stays or leaves; what is null has not changed."""

    group_id: str
    member_id: str
    member_epoch: int
    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int | None = None
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: Partitions | None = None
    """What the member works on, or has not given away yet."""
    makes_own_id: bool = True
    """A member without an id is given one, where it does not have to make one up (KIP-1082)."""

    @property
    def is_full(self) -> bool:
        """Whether it tells everything, so that it must be told everything too."""
        is_subscribed = self.topics is not None or self.regex is not None
        tells_all = self.rebalance_timeout_ms is not None and self.owned is not None
        return self.member_epoch == JOINS or (is_subscribed and tells_all)


class ConsumerHeartbeatAnswer(NamedTuple):
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int = 0
    assigned: Partitions | None = None
    """Null if it is what the member was told before."""


class OffsetToCommit(NamedTuple):
    topic: str
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class Commit(NamedTuple):
    """Answered with one error code for each offset."""

    group_id: str
    offsets: tuple[OffsetToCommit, ...]
    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    instance_id: str | None = None
    retention_ms: int | None = None
    """How long to keep the offsets, where the client may still say so."""
    knows_new_groups: bool = True
    """Whether the client knows of member epochs, and may be told GROUP_ID_NOT_FOUND (KIP-848)."""


class DeleteOffsets(NamedTuple):
    """Answered with one error code for each partition."""

    group_id: str
    partitions: tuple[tuple[str, int], ...]


class DeleteGroup(NamedTuple):
    group_id: str


class SessionOver(NamedTuple):
    """A member, or one that was told its id and never came back, was silent for too long."""

    group_id: str
    member_id: str


class InitialDelayOver(NamedTuple):
    """A new group has waited for more members; it waits on if some came and time remains."""

    group_id: str
    delay_ms: int
    remaining_ms: int


class JoinOver(NamedTuple):
    """Whoever has not joined by now is not part of the next generation."""

    group_id: str


class SyncOver(NamedTuple):
    """Whoever has not asked for its assignment by now is removed."""

    group_id: str
    generation: int


class RevocationOver(NamedTuple):
    """A member of the new protocol was to give partitions away by now."""

    group_id: str
    member_id: str
    member_epoch: int


class ClassicMemberLate(NamedTuple):
    """A classic member of a group of the new protocol was to join or to sync by now."""

    group_id: str
    member_id: str
    reason: str


class ExpireOffsets(NamedTuple):
    """It is time to look for offsets that nobody needs any longer."""


class ForgetTopics(NamedTuple):
    """Topics were deleted; what was committed for them goes too."""

    topics: frozenset[str]


class Downgrade(NamedTuple):
    """The last member of the new protocol is gone; those who are left speak the classic one."""

    group_id: str
    must_rebalance: bool
    """Not if a classic member just took that one's static place, with all it had."""
