"""How much memory all connections together may hold for requests that are still arriving.

A frame up to `FREE_BYTES` needs no leave. A larger one asks before its buffer grows; when the
budget is spent it waits, and its socket is not read meanwhile. Leave is given for the whole frame
at once, so that whoever has it can always finish: there is no deadlock of half-read requests. It is
given in the order of asking, so that a large frame is not starved by small ones. A single frame
larger than the whole budget is let through when nobody else holds any.
"""

from collections import deque
from collections.abc import Callable

FREE_BYTES = 64 * 1024


class RequestMemory:
    def __init__(self, limit_bytes: int) -> None:
        """A limit that is not positive stands for none."""
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    @property
    def held_bytes(self) -> int:
        return self._held_bytes

    @property
    def is_short(self) -> bool:
        """Whether somebody waits for memory that others hold."""
        return bool(self._waiting)

    def try_take(self, size_bytes: int) -> bool:
        if self._waiting or not self._fits(size_bytes):
            return False
        self._held_bytes += size_bytes
        return True

    def wait(self, size_bytes: int, granted: Callable[[], None]) -> None:
        """Queue for memory; `granted` is called with the bytes already taken."""
        self._waiting.append((size_bytes, granted))

    def forget(self, granted: Callable[[], None]) -> None:
        """Whoever queued with this callback is gone; those behind it may fit now."""
        self._waiting = deque(entry for entry in self._waiting if entry[1] != granted)
        self._serve()

    def give_back(self, size_bytes: int) -> None:
        self._held_bytes -= size_bytes
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size_bytes, granted = self._waiting.popleft()
            self._held_bytes += size_bytes
            granted()

    def _fits(self, size_bytes: int) -> bool:
        if self._limit_bytes <= 0 or not self._held_bytes:
            return True
        return self._held_bytes + size_bytes <= self._limit_bytes
