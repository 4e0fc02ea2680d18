"""Incremental fetch sessions (KIP-227): a client names its partitions once, then only changes.

A session remembers for each partition what the client wants and what it was last told; the answer
then leaves out the partitions with nothing new. Epoch 0 asks for a new session, -1 for none, and
the following epochs count the requests of a session one by one. When all slots are taken by
sessions in use, a client gets session id 0 and works without one.
"""

import random
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kwire.clock import Clock
from kwire.errors import (
    ErrorCode,
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
)

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1

# A session unused for this long gives up its slot to a newcomer.
EVICTABLE_AFTER_S = 120.0

PartitionKey = tuple[str | bytes, int]


@dataclass(slots=True)
class Wanted:
    """One partition of a fetch: where to read, and what the client was told the last time."""

    topic: str
    topic_id: bytes
    index: int
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    told: tuple[int, int, int] | None = None

    def is_news(self, error: ErrorCode, offsets: tuple[int, int, int], has_data: bool) -> bool:
        """Whether an incremental answer must mention this partition; remembers what it said.

        `offsets` are high watermark, last stable offset and log start offset. After an error
        nothing counts as told, so that the next good answer always comes through.
        """
        if error != ErrorCode.NONE:
            self.told = None
            return True
        is_changed = self.told != offsets
        self.told = offsets
        return is_changed or has_data


@dataclass(slots=True)
class Session:
    id: int
    uses_topic_ids: bool
    partitions: dict[PartitionKey, Wanted]
    next_epoch: int = 1
    last_used_at: float = 0.0

    def update(self, wanted: Iterable[Wanted], forgotten: Iterable[PartitionKey]) -> None:
        for entry in wanted:
            key = _key(entry, self.uses_topic_ids)
            known = self.partitions.get(key)
            if known is not None:
                entry.told = known.told
            self.partitions[key] = entry
        for key in forgotten:
            self.partitions.pop(key, None)

    def move_to_end(self, key: PartitionKey) -> None:
        """A partition that just got data queues behind the others: nobody starves."""
        self.partitions[key] = self.partitions.pop(key)


@dataclass(slots=True)
class FetchPlan:
    """What one Fetch request is about, whichever way it was said."""

    session_id: int
    is_incremental: bool
    session: Session | None
    partitions: list[Wanted]
    next_epoch: int = 0

    @property
    def is_overtaken(self) -> bool:
        """Whether the session went on with another request before this one was answered."""
        return self.session is not None and self.session.next_epoch != self.next_epoch

    def served(self, wanted: Wanted) -> None:
        """This partition got data in the answer."""
        if self.is_incremental and self.session is not None:
            key = _key(wanted, self.session.uses_topic_ids)
            if key in self.session.partitions:
                self.session.move_to_end(key)


class FetchSessions:
    def __init__(self, slots: int, clock: Clock, rng: random.Random | None = None) -> None:
        self._slots = slots
        self._clock = clock
        self._random = rng or random.Random()
        self._sessions: OrderedDict[int, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    def plan(
        self,
        session_id: int,
        epoch: int,
        wanted: list[Wanted],
        forgotten: Iterable[PartitionKey],
        *,
        uses_topic_ids: bool,
    ) -> FetchPlan:
        """Find or make the session of a request; raises what Kafka answers for a broken one."""
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if epoch == FINAL_EPOCH:
                return FetchPlan(NO_SESSION, False, None, wanted)
            return self._open(wanted, uses_topic_ids)
        session = self._sessions.get(session_id)
        if session is None:
            raise FetchSessionIdNotFound()
        if session.next_epoch != epoch:
            raise InvalidFetchSessionEpoch()
        if session.uses_topic_ids != uses_topic_ids:
            raise FetchSessionTopicIdError()
        session.update(wanted, forgotten)
        if not session.partitions:
            del self._sessions[session_id]
            return FetchPlan(NO_SESSION, False, None, [])
        session.next_epoch = 1 if epoch == MAX_EPOCH else epoch + 1
        self._touch(session)
        wanted = list(session.partitions.values())
        return FetchPlan(session_id, True, session, wanted, session.next_epoch)

    def _open(self, wanted: list[Wanted], uses_topic_ids: bool) -> FetchPlan:
        if not wanted or not self._has_room():
            return FetchPlan(NO_SESSION, False, None, wanted)
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = self._random.randrange(1, MAX_EPOCH)
        partitions = {_key(entry, uses_topic_ids): entry for entry in wanted}
        session = Session(session_id, uses_topic_ids, partitions)
        self._sessions[session_id] = session
        self._touch(session)
        return FetchPlan(session_id, False, session, wanted, session.next_epoch)

    def _has_room(self) -> bool:
        if len(self._sessions) < self._slots:
            return True
        if not self._sessions:
            return False
        oldest = next(iter(self._sessions.values()))
        if self._clock.monotonic() - oldest.last_used_at < EVICTABLE_AFTER_S:
            return False
        del self._sessions[oldest.id]
        return True

    def _touch(self, session: Session) -> None:
        session.last_used_at = self._clock.monotonic()
        self._sessions.move_to_end(session.id)


def _key(entry: Wanted, uses_topic_ids: bool) -> PartitionKey:
    return (entry.topic_id if uses_topic_ids else entry.topic, entry.index)
