"""Answers that come later: completed once, changed on the way, abandoned."""

from kwire.tasks import Later, now


def test_whoever_waits_is_called_with_the_answer() -> None:
    later: Later[int] = Later()
    seen: list[int] = []
    later.then(seen.append)
    assert not later.done
    later.complete(5)
    assert (later.value, seen) == (5, [5])


def test_who_comes_after_the_answer_is_called_at_once() -> None:
    seen: list[str] = []
    now("known").then(seen.append)
    assert seen == ["known"]


def test_only_the_first_answer_counts() -> None:
    later: Later[int] = Later()
    seen: list[int] = []
    later.then(seen.append)
    later.complete(1)
    later.complete(2)
    assert (later.value, seen) == (1, [1])


def test_an_answer_can_be_made_of_another() -> None:
    later: Later[int] = Later()
    changed = later.map(str)
    later.complete(5)
    assert changed.value == "5"


def test_abandoning_undoes_the_wait_and_silences_the_answer() -> None:
    later: Later[int] = Later()
    seen: list[int] = []
    undone: list[bool] = []
    later.then(seen.append)
    later.on_abandon(lambda: undone.append(True))
    later.abandon()
    later.abandon()
    later.complete(5)
    assert (seen, undone) == ([], [True])


def test_abandoning_what_was_made_of_an_answer_abandons_it_too() -> None:
    later: Later[int] = Later()
    undone: list[bool] = []
    later.on_abandon(lambda: undone.append(True))
    later.map(str).abandon()
    assert undone == [True]


def test_an_answer_that_came_is_not_abandoned() -> None:
    later: Later[int] = Later()
    undone: list[bool] = []
    later.on_abandon(lambda: undone.append(True))
    later.complete(5)
    later.abandon()
    assert undone == []
    assert later.value == 5
