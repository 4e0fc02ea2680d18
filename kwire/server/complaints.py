"""One log line for each thing a peer did wrong, but never a flood of them."""

import logging

from kwire.clock import Clock

LINES_PER_SECOND = 10


class Complaints:
    def __init__(self, log: logging.Logger, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._second = 0
        self._lines = 0
        self._left_out = 0

    def say(self, text: str) -> None:
        second = int(self._clock.monotonic())
        if second != self._second:
            if self._left_out:
                self._log.warning("more of the same left_out=%d", self._left_out)
            self._second, self._lines, self._left_out = second, 0, 0
        if self._lines < LINES_PER_SECOND:
            self._lines += 1
            self._log.warning("%s", _one_line(text))
        else:
            self._left_out += 1


def _one_line(text: str) -> str:
    """Peers choose part of the text: no newline or control character of theirs reaches the log."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:500])
