"""Fetch sessions (KIP-227): opened, continued, evicted, and told apart."""

import random

import pytest

from kwire.clock import ManualClock
from kwire.errors import (
    ErrorCode,
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
)
from kwire.replication.fetch_sessions import (
    EVICTABLE_AFTER_S,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    MAX_EPOCH,
    FetchPlan,
    FetchSessions,
    PartitionKey,
    Wanted,
)

NO_ID = bytes(16)


def _wanted(topic: str = "t", index: int = 0, offset: int = 0) -> Wanted:
    return Wanted(topic, NO_ID, index, offset, 1000)


def _sessions(clock: ManualClock, slots: int = 10) -> FetchSessions:
    return FetchSessions(slots, clock, random.Random(1))


def _plan(
    sessions: FetchSessions,
    session_id: int,
    epoch: int,
    *wanted: Wanted,
    forgotten: tuple[PartitionKey, ...] = (),
    uses_topic_ids: bool = False,
) -> FetchPlan:
    return sessions.plan(session_id, epoch, list(wanted), forgotten, uses_topic_ids=uses_topic_ids)


def _open(sessions: FetchSessions, *wanted: Wanted) -> int:
    return _plan(sessions, 0, INITIAL_EPOCH, *(wanted or (_wanted(),))).session_id


def test_a_client_that_wants_no_session_gets_none(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    plan = _plan(sessions, 0, FINAL_EPOCH, _wanted())
    assert (plan.session_id, plan.is_incremental, len(plan.partitions)) == (0, False, 1)
    assert len(sessions) == 0


def test_a_session_remembers_its_partitions_in_order(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions, _wanted("a"), _wanted("b"))
    plan = _plan(sessions, session_id, 1, _wanted("a", offset=5), _wanted("c"))
    assert plan.is_incremental
    assert [(one.topic, one.fetch_offset) for one in plan.partitions] == [
        ("a", 5),
        ("b", 0),
        ("c", 0),
    ]


def test_partitions_can_be_forgotten(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions, _wanted("a"), _wanted("b"))
    plan = _plan(sessions, session_id, 1, forgotten=(("a", 0), ("never known", 3)))
    assert [one.topic for one in plan.partitions] == ["b"]


def test_a_session_without_partitions_ends(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions, _wanted("a"))
    plan = _plan(sessions, session_id, 1, forgotten=(("a", 0),))
    assert (plan.session_id, plan.partitions) == (0, [])
    assert len(sessions) == 0


def test_epochs_count_the_requests_and_wrap_around(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions)
    for epoch in (1, 2):
        _plan(sessions, session_id, epoch)
    with pytest.raises(InvalidFetchSessionEpoch):
        _plan(sessions, session_id, 2)
    (session,) = sessions
    session.next_epoch = MAX_EPOCH
    _plan(sessions, session_id, MAX_EPOCH)
    assert session.next_epoch == 1


def test_an_unknown_session_is_told(clock: ManualClock) -> None:
    with pytest.raises(FetchSessionIdNotFound):
        _plan(_sessions(clock), 99, 1)


def test_names_and_ids_do_not_mix(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions)
    with pytest.raises(FetchSessionTopicIdError):
        _plan(sessions, session_id, 1, uses_topic_ids=True)


@pytest.mark.parametrize("epoch", [INITIAL_EPOCH, FINAL_EPOCH])
def test_a_full_request_closes_the_old_session(clock: ManualClock, epoch: int) -> None:
    sessions = _sessions(clock)
    old = _open(sessions)
    _plan(sessions, old, epoch, _wanted())
    assert old not in [session.id for session in sessions]
    assert len(sessions) == (1 if epoch == INITIAL_EPOCH else 0)


def test_without_room_a_client_works_without_a_session(clock: ManualClock) -> None:
    sessions = _sessions(clock, slots=1)
    first = _open(sessions)
    plan = _plan(sessions, 0, INITIAL_EPOCH, _wanted())
    assert (plan.session_id, plan.session, len(plan.partitions)) == (0, None, 1)
    assert [session.id for session in sessions] == [first]


def test_no_slots_are_no_sessions(clock: ManualClock) -> None:
    assert _open(_sessions(clock, slots=0)) == 0


def test_the_session_unused_for_longest_gives_way(clock: ManualClock) -> None:
    sessions = _sessions(clock, slots=2)
    old, used = _open(sessions), _open(sessions)
    clock.advance(int(EVICTABLE_AFTER_S * 1000))
    _plan(sessions, used, 1)
    new = _open(sessions)
    assert new
    assert {session.id for session in sessions} == {used, new}
    assert old not in {used, new}


def test_a_plan_is_overtaken_by_the_next_request_of_its_session(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions)
    plans = [_plan(sessions, session_id, 1)]
    assert [plan.is_overtaken for plan in plans] == [False]
    plans.append(_plan(sessions, session_id, 2))
    assert [plan.is_overtaken for plan in plans] == [True, False]


def test_whoever_got_data_queues_behind_the_others(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions, _wanted("a"), _wanted("b"))
    plan = _plan(sessions, session_id, 1)
    plan.served(plan.partitions[0])
    assert [one.topic for one in _plan(sessions, session_id, 2).partitions] == ["b", "a"]


def test_news_are_told_once() -> None:
    wanted = _wanted()
    assert wanted.is_news(ErrorCode.NONE, (1, 1, 0), has_data=False)
    assert not wanted.is_news(ErrorCode.NONE, (1, 1, 0), has_data=False)
    assert wanted.is_news(ErrorCode.NONE, (1, 1, 0), has_data=True)
    assert wanted.is_news(ErrorCode.NONE, (2, 1, 0), has_data=False)
    assert wanted.is_news(ErrorCode.NONE, (2, 1, 1), has_data=False)


def test_an_error_is_news_and_so_is_its_end() -> None:
    wanted = _wanted()
    wanted.is_news(ErrorCode.NONE, (1, 1, 0), has_data=False)
    for _ in range(2):
        assert wanted.is_news(ErrorCode.OFFSET_OUT_OF_RANGE, (-1, -1, -1), has_data=False)
    assert wanted.is_news(ErrorCode.NONE, (1, 1, 0), has_data=False)


def test_moving_on_does_not_forget_what_was_told(clock: ManualClock) -> None:
    sessions = _sessions(clock)
    session_id = _open(sessions)
    (session,) = sessions
    next(iter(session.partitions.values())).told = (1, 1, 0)
    plan = _plan(sessions, session_id, 1, _wanted(offset=9))
    assert plan.partitions[0].told == (1, 1, 0)
