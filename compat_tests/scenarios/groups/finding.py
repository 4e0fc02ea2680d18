"""FindCoordinator: who coordinates a group or a transactional id."""

from compat_tests.scenarios.play import Play
from kwire.codec.apis import FIND_COORDINATOR

GROUP, TRANSACTION, SHARE = 0, 1, 2


def every_version_names_the_coordinator_of_a_group(play: Play) -> None:
    for version in (0, 1, 2, 3):
        play.ask(FIND_COORDINATOR, version, key=play.name("group"))
    for version in (4, 5, 6):
        play.ask(FIND_COORDINATOR, version, coordinator_keys=[play.name("group")])


def many_groups_are_found_at_once(play: Play) -> None:
    keys = [play.name("one"), play.name("two"), play.name("three")]
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=keys)


def no_keys_are_answered_with_no_coordinators(play: Play) -> None:
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[])


def a_key_given_twice_is_answered_twice(play: Play) -> None:
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[play.name("group")] * 2)


def the_group_without_a_name_has_a_coordinator(play: Play) -> None:
    for version in (0, 1, 3):
        play.ask(FIND_COORDINATOR, version, key="")
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[""])


def a_type_that_does_not_exist_is_an_invalid_request(play: Play) -> None:
    for version in (1, 3):
        play.ask(FIND_COORDINATOR, version, key=play.name("group"), key_type=3)
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[play.name("group")], key_type=3)
    play.ask(FIND_COORDINATOR, 4, coordinator_keys=[play.name("group")], key_type=-1)


def share_groups_are_known_from_version_6_on(play: Play) -> None:
    for version in (4, 5):
        play.ask(FIND_COORDINATOR, version, coordinator_keys=["a:b:c"], key_type=SHARE)
    play.ask(FIND_COORDINATOR, 6, coordinator_keys=["no share key"], key_type=SHARE)
