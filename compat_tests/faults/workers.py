"""Client programs as child processes, whom a run may kill and start again.

Each line a child prints is handed on as it comes. The pipe outlives the child, so that what it
said before it was killed is heard too.
"""

import contextlib
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

Hear = Callable[[str], None]
REMEMBERED_LINES = 30


class Child:
    """One life of one program."""

    def __init__(self, command: Sequence[str], hear: Hear) -> None:
        self._hear = hear
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        assert self._process.stdout is not None
        self._listener = threading.Thread(target=self._listen, args=(self._process.stdout,))
        self._listener.start()

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    def ask_to_end(self) -> None:
        self._process.terminate()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout_s: float = 30) -> int:
        """How it ended, once everything it said was heard."""
        code = self._process.wait(timeout_s)
        self._listener.join(timeout_s)
        return code

    def _listen(self, output: IO[str]) -> None:
        with output:
            for line in output:
                self._hear(line.rstrip("\n"))


class Worker:
    """A program that comes back whenever it ends, as a service manager would have it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._is_retired = threading.Event()
        self._said: deque[str] = deque(maxlen=REMEMBERED_LINES)
        self.gave_up = 0
        self._child = Child(command, self._said.append)
        self._watch = threading.Thread(target=self._revive)
        self._watch.start()

    @property
    def last_words(self) -> str:
        return "\n".join(self._said)

    def kill(self) -> None:
        """End it without a word; it comes back by itself."""
        self._child.kill()

    def retire(self) -> None:
        """Kill it for good."""
        self._is_retired.set()
        self._child.kill()
        self._watch.join(30)
        # It may have been born once more while it was told.
        self._child.kill()

    def _revive(self) -> None:
        while not self._is_retired.is_set():
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._child.wait(timeout_s=0.2)
                self.gave_up += code not in (0, -signal.SIGKILL)
                if not self._is_retired.is_set():
                    self._child = Child(self._command, self._said.append)
