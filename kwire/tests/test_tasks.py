"""Answers that come later: completed once, changed on the way, abandoned."""

import pytest

from kwire.tasks import Later, all_of, now


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


def test_who_waits_is_told_that_an_answer_cannot_be_made_and_who_brings_it_is_not() -> None:
    later: Later[int] = Later()
    answers: list[float] = []
    failures: list[Exception] = []
    later.map(lambda value: 1 / value).map(str).map(float).then(answers.append, failures.append)
    later.complete(0)
    assert answers == []
    assert [type(error) for error in failures] == [ZeroDivisionError]


def test_an_answer_that_cannot_be_made_of_a_known_one_fails_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        now(0).map(lambda value: 1 / value)


def test_where_nobody_listens_for_failures_whoever_brings_the_answer_hears_of_it() -> None:
    later: Later[int] = Later()
    later.map(lambda value: 1 / value)
    with pytest.raises(ZeroDivisionError):
        later.complete(0)


def test_one_failure_is_a_failure_of_all_together() -> None:
    first: Later[int] = Later()
    second: Later[int] = Later()
    failures: list[Exception] = []
    inverses = [later.map(lambda value: 1 / value) for later in (first, second)]
    all_of(inverses).then(lambda _: None, failures.append)
    first.complete(0)
    second.complete(1)
    assert len(failures) == 1


def test_a_failure_that_comes_after_the_end_is_nobodys() -> None:
    later: Later[int] = Later()
    failures: list[Exception] = []
    later.then(lambda _: None, failures.append)
    later.abandon()
    later.fail(ZeroDivisionError())
    assert failures == []
