"""What hostile input must leave alone: other clients, memory, the disk and the log.

Memory is the kernel's own high-water mark, which is reset before each row.
"""

import hashlib
import re
import socket
from pathlib import Path

from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.wire import API_VERSIONS, Reader, request
from compat_tests.oracle.processes import BrokerProcess

HELLO = request(API_VERSIONS, 0)


class Watch:
    """Taken before a row; `check` afterwards."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._broker = broker
        host, port = broker.bootstrap.split(":")
        self._neighbour = socket.create_connection((host, int(port)), timeout=5)
        self._say_hello()
        self._lines = len(broker.printed)
        self._files = _digest(broker.log_dir)
        reset_peak(broker.pid)
        self._memory = peak_bytes(broker.pid)

    def close(self) -> None:
        self._neighbour.close()

    def check(self, port: int, memory_bytes: int) -> None:
        """Nobody else noticed, and no more than `memory_bytes` were needed for a while."""
        self._say_hello()
        newcomer = exchange(self._broker.bootstrap, HELLO).answer
        assert newcomer is not None
        assert Reader(newcomer).i16() == 0
        changed = set(_digest(self._broker.log_dir).items()) ^ set(self._files.items())
        assert not changed, f"files changed: {sorted({name for name, _ in changed})}"
        grown = peak_bytes(self._broker.pid) - self._memory
        assert grown <= memory_bytes, f"{grown >> 20} MB for a while"
        # Only the lines since the last look: another connection may have had this port before.
        new = self._broker.printed[self._lines :]
        told = [line for line in new if f":{port} " in line]
        assert len(told) <= 1, told
        self._lines += len(new)
        assert not any(line.startswith("FORGED") for line in self._broker.printed)

    def _say_hello(self) -> None:
        self._neighbour.sendall(HELLO)
        length = int.from_bytes(self._neighbour.recv(4, socket.MSG_WAITALL), "big")
        answer = self._neighbour.recv(length, socket.MSG_WAITALL)
        assert Reader(answer).i16() == 0


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_bytes(pid: int) -> int:
    return status_bytes(pid, "VmHWM")


def status_bytes(pid: int, name: str) -> int:
    """A size out of /proc/<pid>/status."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def _digest(directory: Path) -> dict[str, str]:
    """Every file and what is in it, but for the checkpoints that are written now and then."""
    return {
        path.relative_to(directory).as_posix(): hashlib.sha1(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith("-checkpoint")
    }
