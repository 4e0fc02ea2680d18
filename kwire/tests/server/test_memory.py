"""The common budget of requests that are arriving."""

from kwire.server.memory import RequestMemory


def test_what_fits_is_given_at_once() -> None:
    memory = RequestMemory(100)
    assert memory.try_take(60)
    assert not memory.try_take(50)
    assert memory.try_take(40)
    assert memory.held_bytes == 100


def test_who_waits_gets_memory_when_others_give_it_back() -> None:
    memory, granted = RequestMemory(100), list[str]()
    assert memory.try_take(80)
    memory.wait(50, lambda: granted.append("a"))
    assert memory.is_short
    memory.give_back(80)
    assert granted == ["a"]
    assert memory.held_bytes == 50
    assert not memory.is_short


def test_a_small_newcomer_does_not_overtake_a_large_one_that_waits() -> None:
    memory = RequestMemory(100)
    assert memory.try_take(80)
    memory.wait(90, lambda: None)
    assert not memory.try_take(10)


def test_whoever_stands_behind_one_that_left_is_served() -> None:
    memory, granted = RequestMemory(100), list[str]()

    def large() -> None:
        granted.append("large")

    assert memory.try_take(60)
    memory.wait(90, large)
    memory.wait(20, lambda: granted.append("small"))
    memory.forget(large)
    assert granted == ["small"]
    assert memory.held_bytes == 80


def test_a_frame_larger_than_the_budget_is_let_through_alone() -> None:
    memory = RequestMemory(100)
    assert memory.try_take(500)
    assert not memory.try_take(1)
    memory.give_back(500)
    assert memory.try_take(1)


def test_without_a_limit_everything_fits() -> None:
    memory = RequestMemory(-1)
    assert memory.try_take(10**12)
    assert memory.try_take(10**12)
