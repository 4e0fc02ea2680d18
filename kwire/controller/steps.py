"""Asking a store one thing after another, when each answer may come later."""

from collections.abc import Callable
from typing import TypeVar

from kwire.controller.store import StoreError
from kwire.tasks import Later

T = TypeVar("T")
U = TypeVar("U")


def chain(first: Later[T], step: Callable[[T], Later[U]]) -> Later[U]:
    """What `step` finds out, begun with the first answer."""
    found: Later[U] = Later()
    first.then(lambda value: step(value).then(found.complete))
    return found


def sure(value: T | StoreError) -> T:
    """The answer, where a store that refuses leaves nothing to do but to give up."""
    if isinstance(value, StoreError):
        raise value
    return value
