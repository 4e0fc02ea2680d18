"""Waiting for what a broker will do soon: ask again until it is so, but not for ever."""

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def eventually(
    ask: Callable[[], Answer], accept: Callable[[Answer], object], timeout_s: float = 10
) -> Answer:
    """Ask until `accept` says yes; the last answer is in the failure. Asking takes its own time."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if accept(answer):
            return answer
        assert time.monotonic() < deadline, f"still {answer!r} after {timeout_s} s"
