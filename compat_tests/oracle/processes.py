"""Brokers as child processes: started, waited for by a line they print, and stopped.

Waiting is reading: nothing polls a port, and a broker that dies before it is ready fails at once
with everything it printed.
"""

import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO


class BrokerFailed(AssertionError):
    """The broker ended, or stayed silent for too long, before it was ready."""


class BrokerProcess:
    """One running broker and where to reach it."""

    def __init__(self, command: Sequence[str], bootstrap: str, log_dir: Path) -> None:
        self.bootstrap = bootstrap
        self.log_dir = log_dir
        self.printed: list[str] = []
        self._child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        self._ready = threading.Event()

    def __enter__(self) -> "BrokerProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_for(self, line_part: str, timeout_s: float) -> None:
        """Return when the broker printed a line with `line_part` in it."""
        assert self._child.stdout is not None
        reader = threading.Thread(target=self._read, args=(self._child.stdout, line_part))
        reader.daemon = True
        reader.start()
        came = self._ready.wait(timeout_s)
        if not came or self._child.poll() is not None:
            self.kill()
            raise BrokerFailed("no broker:\n" + "".join(self.printed))

    def stop(self) -> int:
        """Ask it to end, as a service manager would, and return its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """End it without a word, as a power cut would."""
        return self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)
        return self._child.wait(timeout=30)

    def _read(self, output: IO[str], line_part: str) -> None:
        with output:
            for line in output:
                self.printed.append(line)
                if line_part in line:
                    self._ready.set()
        # The end of the output frees whoever waits, who then sees that the child is gone.
        self._ready.set()


@contextlib.contextmanager
def free_ports(count: int) -> Iterator[list[int]]:
    """Ports nobody listens on; held until the block ends, so that they differ from each other."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        yield [each.getsockname()[1] for each in sockets]
