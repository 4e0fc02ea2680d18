"""What every assignment must be, and how the two assignors differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.groups.assignors import (
    ASSIGNORS,
    Assignor,
    Subscriber,
    assign_ranges,
    assign_uniformly,
)
from kwire.groups.modern_members import NONE, IdPartition, Partitions
from kwire.tests.groups.words import by_id, by_name, topic_id

TOPICS = [topic_id(name) for name in "abcd"]

counts_of_topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 7))
subscriptions = st.dictionaries(
    st.sampled_from("mnopqr"), st.frozensets(st.sampled_from(TOPICS)), min_size=1
)


def _subscribers(
    subscribed: dict[str, frozenset[bytes]],
    counts: dict[bytes, int],
    targets: dict[str, Partitions] | None = None,
) -> dict[str, Subscriber]:
    return {
        member: Subscriber(topics & counts.keys(), target=(targets or {}).get(member, NONE))
        for member, topics in subscribed.items()
    }


def _all(counts: dict[bytes, int], subscribed: dict[str, frozenset[bytes]]) -> list[IdPartition]:
    read = frozenset[bytes]().union(*subscribed.values())
    return sorted(
        IdPartition(topic, p) for topic in counts.keys() & read for p in range(counts[topic])
    )


def _moved(before: dict[str, Partitions], after: dict[str, Partitions]) -> int:
    """How many partitions somebody had who is still there, and has not any longer."""
    return sum(len(share - after[member]) for member, share in before.items() if member in after)


@pytest.mark.parametrize("assignor", ASSIGNORS.values(), ids=ASSIGNORS)
@given(subscribed=subscriptions, counts=counts_of_topics)
def test_every_partition_goes_to_one_member_that_wants_it(
    assignor: Assignor, subscribed: dict[str, frozenset[bytes]], counts: dict[bytes, int]
) -> None:
    shares = assignor(_subscribers(subscribed, counts), counts)
    assert shares.keys() == subscribed.keys()
    assert sorted(one for share in shares.values() for one in share) == _all(counts, subscribed)
    for member, share in shares.items():
        assert {one.topic_id for one in share} <= subscribed[member]


@given(subscribed=subscriptions, counts=counts_of_topics)
def test_uniform_shares_cannot_be_made_more_equal(
    subscribed: dict[str, frozenset[bytes]], counts: dict[bytes, int]
) -> None:
    shares = assign_uniformly(_subscribers(subscribed, counts), counts)
    for share in shares.values():
        for topic in {one.topic_id for one in share}:
            readers = [one for one, topics in subscribed.items() if topic in topics]
            assert all(len(share) - len(shares[reader]) < 2 for reader in readers)


@given(subscribed=subscriptions, counts=counts_of_topics)
def test_a_uniform_assignment_that_is_fine_stays(
    subscribed: dict[str, frozenset[bytes]], counts: dict[bytes, int]
) -> None:
    shares = assign_uniformly(_subscribers(subscribed, counts), counts)
    assert assign_uniformly(_subscribers(subscribed, counts, shares), counts) == shares


@given(members=st.integers(1, 8), counts=counts_of_topics, leaves=st.booleans())
def test_no_more_moves_than_a_member_that_comes_or_goes_needs(
    members: int, counts: dict[bytes, int], leaves: bool
) -> None:
    topics = frozenset(TOPICS)
    names = [str(number) for number in range(members)]
    before = assign_uniformly(_subscribers(dict.fromkeys(names, topics), counts), counts)
    names = names[1:] if leaves else [*names, "new"]
    after = assign_uniformly(_subscribers(dict.fromkeys(names, topics), counts, before), counts)
    needed = 0 if leaves else len(after["new"])
    assert _moved(before, after) == needed


@pytest.mark.parametrize(
    ("subscribed", "counts", "expected"),
    [
        ({"m": "a", "n": "a"}, {"a": 4}, {"m": "a:0,1", "n": "a:2,3"}),
        ({"m": "a", "n": "a"}, {"a": 5}, {"m": "a:0,1,2", "n": "a:3,4"}),
        ({"m": "ab", "n": "ab"}, {"a": 3, "b": 3}, {"m": "a:0,1 b:0,1", "n": "a:2 b:2"}),
        ({"m": "a", "n": "a", "o": "a"}, {"a": 2}, {"m": "a:0", "n": "a:1", "o": "nothing"}),
        ({"m": "ab", "n": "b"}, {"a": 2, "b": 2}, {"m": "a:0,1 b:0", "n": "b:1"}),
        ({"m": "", "n": "a"}, {"a": 1}, {"m": "nothing", "n": "a:0"}),
    ],
)
def test_ranges_of_neighbours(
    subscribed: dict[str, str], counts: dict[str, int], expected: dict[str, str]
) -> None:
    subscribers = {
        member: Subscriber(frozenset(map(topic_id, topics)))
        for member, topics in subscribed.items()
    }
    shares = assign_ranges(subscribers, {topic_id(name): n for name, n in counts.items()})
    assert {member: by_name(share) for member, share in shares.items()} == expected


def test_a_static_member_keeps_its_range_under_another_id() -> None:
    topics = frozenset({topic_id("a")})
    counts = {topic_id("a"): 4}
    first = {"x": Subscriber(topics, "i1"), "m": Subscriber(topics)}
    again = {"b": Subscriber(topics), "y": Subscriber(topics, "i1")}
    assert assign_ranges(first, counts)["x"] == assign_ranges(again, counts)["y"]


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("a:0,1", "a:0,1"),
        ("a:0,7", "a:0"),
        ("a:0+z:0", "a:0"),
    ],
)
def test_what_is_gone_is_not_kept(target: str, kept: str) -> None:
    topics = frozenset({topic_id("a")})
    counts = {topic_id("a"): 4}
    members = {"m": Subscriber(topics, target=by_id(target)), "n": Subscriber(topics)}
    assert by_id(kept) <= assign_uniformly(members, counts)["m"]


def test_members_with_few_choices_are_not_starved() -> None:
    a, b = topic_id("a"), topic_id("b")
    members = {"m": Subscriber(frozenset({a, b})), "n": Subscriber(frozenset({b}))}
    shares = assign_uniformly(members, {a: 2, b: 2})
    assert by_name(shares["n"]) == "b:0,1"
    assert by_name(shares["m"]) == "a:0,1"
