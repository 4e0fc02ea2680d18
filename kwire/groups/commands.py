"""What group coordinators are asked to do, in our own words, and what they answer.

The first part comes from clients, the second from the clock and the cluster. Joining and syncing
have answers of their own, since a refusal tells a member its id too; everything else is refused by
a `KwireError`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kwire.errors import ErrorCode
from kwire.groups.members import JoinProtocol

NO_MEMBER_ID = ""
NO_GENERATION = -1


@dataclass(frozen=True, slots=True)
class Join:
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


@dataclass(frozen=True, slots=True)
class Sync:
    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, bytes] = field(default_factory=dict)


class SyncAnswer(NamedTuple):
    code: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None


class LeavingMember(NamedTuple):
    member_id: str
    instance_id: str | None = None
    reason: str = "not provided"


@dataclass(frozen=True, slots=True)
class Leave:
    """Answered with one error code for each member."""

    group_id: str
    members: tuple[LeavingMember, ...]


class OffsetToCommit(NamedTuple):
    topic: str
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """Answered with one error code for each offset."""

    group_id: str
    offsets: tuple[OffsetToCommit, ...]
    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    instance_id: str | None = None
    retention_ms: int | None = None
    """How long to keep the offsets, where the client may still say so."""
    knows_missing_groups: bool = True
    """Whether GROUP_ID_NOT_FOUND may be answered; ILLEGAL_GENERATION stands for it otherwise."""


@dataclass(frozen=True, slots=True)
class DeleteOffsets:
    """Answered with one error code for each partition."""

    group_id: str
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    group_id: str


@dataclass(frozen=True, slots=True)
class SessionOver:
    """A member, or one that was told its id and never came back, was silent for too long."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class InitialDelayOver:
    """A new group has waited for more members; it waits on if some came and time remains."""

    group_id: str
    delay_ms: int
    remaining_ms: int


@dataclass(frozen=True, slots=True)
class JoinOver:
    """Whoever has not joined by now is not part of the next generation."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncOver:
    """Whoever has not asked for its assignment by now is removed."""

    group_id: str
    generation: int


@dataclass(frozen=True, slots=True)
class ExpireOffsets:
    """It is time to look for offsets that nobody needs any longer."""


@dataclass(frozen=True, slots=True)
class ForgetTopics:
    """Topics were deleted; what was committed for them goes too."""

    topics: frozenset[str]
