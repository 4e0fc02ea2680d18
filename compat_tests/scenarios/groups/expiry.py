"""Time that runs out: sessions, members that never come back, rebalances that take too long."""

from compat_tests.scenarios.group_steps import Group, Membership
from compat_tests.scenarios.play import Play

SHORT_MS = 400


def a_member_that_falls_silent_is_forgotten(play: Play) -> None:
    group = Group(play)
    member = group.stable_member(session_timeout_ms=SHORT_MS)
    group.until_state("Empty")
    group.heartbeat(member)
    group.join(member.member_id)


def the_others_rebalance_when_one_falls_silent(play: Play) -> None:
    group = Group(play)
    first = group.stable_member()
    told = group.join(session_timeout_ms=SHORT_MS)
    parked = group.join_later(told.member_id, session_timeout_ms=SHORT_MS)
    group.until_rebalancing(first)
    again = group.join(first.member_id)
    second = parked.answer()
    first = first._replace(generation=again.generation_id)
    group.sync(first, {first.member_id: b"one", second.member_id: b"two"})
    group.until_rebalancing(first)
    group.join(first.member_id)


def an_id_that_nobody_joins_with_is_forgotten(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    told = group.join(session_timeout_ms=SHORT_MS)
    # The next generation waits for whoever was told an id, but not longer than a session.
    group.join(member.member_id)
    group.join(told.member_id)


def who_does_not_join_again_in_time_is_left_out(play: Play) -> None:
    group = Group(play)
    first = group.stable_member(rebalance_timeout_ms=SHORT_MS)
    told = group.join()
    parked = group.join_later(told.member_id, rebalance_timeout_ms=SHORT_MS)
    group.until_rebalancing(first)
    parked.answer()
    group.heartbeat(first)


def a_static_member_that_does_not_join_again_in_time_keeps_its_place(play: Play) -> None:
    group = Group(play)
    joined = group.join(instance="instance", rebalance_timeout_ms=SHORT_MS)
    first = Membership(joined.member_id, joined.generation_id, "instance")
    group.sync(first, {first.member_id: b"all"})
    told = group.join()
    parked = group.join_later(told.member_id, rebalance_timeout_ms=SHORT_MS)
    group.until_rebalancing(first)
    parked.answer()
    group.heartbeat(first)


def a_leader_that_never_syncs_is_left_out(play: Play) -> None:
    group = Group(play)
    group.new_member(rebalance_timeout_ms=SHORT_MS)
    group.until_state("Empty")


def a_follower_that_never_syncs_is_left_out(play: Play) -> None:
    group = Group(play)
    first = group.stable_member(rebalance_timeout_ms=SHORT_MS)
    told = group.join()
    parked = group.join_later(told.member_id, rebalance_timeout_ms=SHORT_MS)
    group.until_rebalancing(first)
    again = group.join(first.member_id, rebalance_timeout_ms=SHORT_MS)
    second = parked.answer()
    first = first._replace(generation=again.generation_id)
    group.sync(first, {first.member_id: b"one", second.member_id: b"two"})
    group.until_rebalancing(first)


def a_static_member_that_falls_silent_is_forgotten(play: Play) -> None:
    group = Group(play)
    joined = group.join(instance="instance", session_timeout_ms=SHORT_MS)
    member = Membership(joined.member_id, joined.generation_id, "instance")
    group.sync(member, {member.member_id: b"all"})
    group.until_state("Empty")
    group.heartbeat(member)
    group.static_member("instance")
