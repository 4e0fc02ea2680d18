"""JoinGroup: who may enter, who is told its id first, and when a group rebalances."""

from compat_tests.scenarios.group_steps import CHANGED, RANGE, Group, Membership, subscription
from compat_tests.scenarios.play import Play
from kwire.codec.apis import JOIN_GROUP


def old_versions_let_a_new_member_in_at_once(play: Play) -> None:
    for version in (0, 1, 2, 3):
        Group(play, f"group {version}").join(version=version)


def from_version_4_on_a_new_member_is_told_its_id_first(play: Play) -> None:
    for version in (4, 5, 6, 7, 8, 9):
        group = Group(play, f"group {version}")
        told = group.join(version=version)
        group.join(told.member_id, version=version)


def an_id_that_was_given_out_holds_no_place_in_the_group(play: Play) -> None:
    group = Group(play)
    group.commit(play.topic())
    group.join()
    group.describe()


def two_ids_can_be_given_out_before_anybody_joins(play: Play) -> None:
    group = Group(play)
    first, second = group.join(), group.join()
    group.join(first.member_id)
    parked = group.join_later(second.member_id)
    group.until_state("PreparingRebalance")
    group.join(first.member_id)
    parked.answer()


def an_id_the_group_never_gave_out_is_unknown(play: Play) -> None:
    group = Group(play)
    for version in (0, 3, 4, 9):
        group.join("made-up", version=version)
    group.stable_member()
    for version in (0, 3, 4, 9):
        group.join("made-up", version=version)


def a_group_without_a_name_cannot_be_joined(play: Play) -> None:
    group = Group(play)
    for version in (0, 4, 9):
        group.join(version=version, group_id="")


def a_session_timeout_out_of_range_is_refused(play: Play) -> None:
    group = Group(play)
    for timeout_ms in (299, 60_001, 0, -1):
        group.join(session_timeout_ms=timeout_ms)
    group.join(session_timeout_ms=299, version=0)


def the_shortest_and_the_longest_session_timeout_are_allowed(play: Play) -> None:
    group = Group(play)
    group.join(session_timeout_ms=60_000, version=3)
    Group(play, "other").join(session_timeout_ms=300, version=3)


def a_member_without_protocols_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 4, 9):
        group.join(version=version, protocols=())


def a_member_without_a_protocol_type_is_refused(play: Play) -> None:
    group = Group(play)
    for version in (0, 4, 9):
        group.join(version=version, protocol_type="")


def another_protocol_type_than_the_groups_is_refused(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    for version in (0, 4, 9):
        group.join(version=version, protocol_type="connect")


def no_common_protocol_is_refused(play: Play) -> None:
    group = Group(play)
    group.stable_member()
    for version in (0, 4, 9):
        group.join(version=version, protocols=(("sticky", subscription()),))


def an_empty_group_takes_a_new_protocol_type(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    group.join(version=3, protocol_type="connect", protocols=(("eager", b"x"),))


def the_protocol_that_most_members_like_best_is_chosen(play: Play) -> None:
    group = Group(play)
    favourite, other = ("roundrobin", subscription()), RANGE[0]
    first = group.stable_member(protocols=(other, favourite))
    told = group.join(protocols=(favourite, other))
    parked = group.join_later(told.member_id, protocols=(favourite, other))
    group.until_rebalancing(first)
    group.join(first.member_id, protocols=(favourite, other))
    parked.answer()


def any_protocol_type_makes_a_group(play: Play) -> None:
    group = Group(play)
    told = group.join(protocol_type="connect", protocols=(("sessioned", b"url"), ("eager", b"url")))
    group.join(
        told.member_id,
        protocol_type="connect",
        protocols=(("sessioned", b"url"), ("eager", b"url")),
    )
    group.describe()


def a_second_member_makes_the_first_one_join_again(play: Play) -> None:
    group = Group(play)
    first, second = group.stable_pair()
    group.heartbeat(first)
    group.heartbeat(second)


def the_leader_that_joins_a_stable_group_again_starts_a_generation(play: Play) -> None:
    group = Group(play)
    leader = group.stable_member()
    group.join(leader.member_id)


def a_follower_that_joins_again_unchanged_stays_in_the_generation(play: Play) -> None:
    group = Group(play)
    _, follower = group.stable_pair()
    group.join(follower.member_id)
    group.describe()


def a_follower_with_new_metadata_makes_the_group_rebalance(play: Play) -> None:
    group = Group(play)
    leader, follower = group.stable_pair()
    parked = group.join_later(follower.member_id, protocols=CHANGED)
    group.until_rebalancing(leader)
    group.join(leader.member_id)
    parked.answer()


def a_member_that_joins_again_before_anybody_synced_stays_in_the_generation(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    group.join(follower.member_id)
    group.join(leader.member_id)


def a_member_with_new_metadata_before_anybody_synced_starts_a_generation(play: Play) -> None:
    group = Group(play)
    leader, follower = group.second_member(group.stable_member())
    parked = group.join_later(follower.member_id, protocols=CHANGED)
    group.until_rebalancing(leader)
    group.join(leader.member_id)
    parked.answer()


def a_group_takes_no_more_members_than_it_may_have(play: Play) -> None:
    group = Group(play)
    group.third_member(*group.stable_pair())
    for version in (3, 4, 9):
        group.join(version=version)


def the_reason_to_join_changes_nothing(play: Play) -> None:
    group = Group(play)
    told = group.join(reason="first of all")
    group.join(told.member_id, reason="because it was asked to")


def a_member_that_left_is_unknown_when_it_joins_again(play: Play) -> None:
    group = Group(play)
    member = group.stable_member()
    group.leave((member.member_id, None))
    for version in (3, 9):
        group.join(member.member_id, version=version)


def generations_go_on_where_they_were_after_everybody_left(play: Play) -> None:
    group = Group(play)
    for _ in range(2):
        member = group.stable_member()
        group.leave((member.member_id, None))
    group.new_member()


def version_0_takes_the_session_timeout_for_the_rebalance_too(play: Play) -> None:
    group = Group(play)
    joined = group.join(version=0, session_timeout_ms=600)
    first = Membership(joined.member_id, joined.generation_id)
    group.sync(first, {first.member_id: b"all"}, version=0)
    group.join_later(version=3, session_timeout_ms=30_000).answer()


def a_subscription_that_claims_more_topics_than_it_holds_is_no_reason_to_fail(play: Play) -> None:
    group = Group(play)
    group.join(version=3, protocols=(("range", b"\0\0\x7f\xff\xff\xff"),))


def a_join_that_names_a_member_id_in_an_unknown_group_is_refused(play: Play) -> None:
    for version in (0, 4, 5, 9):
        play.ask(
            JOIN_GROUP,
            version,
            group_id=play.name("nobody"),
            member_id="somebody",
            session_timeout_ms=30_000,
            rebalance_timeout_ms=30_000,
            protocol_type="consumer",
        )
