"""One question after another."""

import pytest

from kwire.controller.steps import chain, sure
from kwire.controller.store import NoNode
from kwire.tasks import Later


def test_the_second_step_begins_with_the_first_answer() -> None:
    first: Later[int] = Later()
    second: Later[str] = Later()
    asked: list[int] = []

    def step(value: int) -> Later[str]:
        asked.append(value)
        return second

    found = chain(first, step)
    assert asked == []
    first.complete(4)
    assert asked == [4]
    assert not found.done
    second.complete("four")
    assert found.value == "four"


def test_a_refusal_is_raised_where_nothing_else_can_be_done() -> None:
    assert sure(7) == 7
    with pytest.raises(NoNode):
        sure(NoNode("/a"))
