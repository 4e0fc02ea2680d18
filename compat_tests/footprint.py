"""How soon a broker answers after it was started, and how much memory it takes while idle.

`python -m compat_tests.footprint` prints kwire's numbers beside Apache Kafka's, which runs with
the small heap and the quick compiler of the tests.
"""

import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compat_tests.bad_input.wire import API_VERSIONS, request
from compat_tests.oracle.brokers import free_address, kafka_command, kwire_command

HELLO = request(API_VERSIONS, 0)
PATIENCE_S = 60.0

CommandFor = Callable[[Path, str], list[str]]


class Footprint(NamedTuple):
    """`processor_ms` is what the start itself cost, however busy the machine was meanwhile."""

    start_ms: float
    processor_ms: float
    idle_mb: float


def measure(command_for: CommandFor, starts: int) -> list[Footprint]:
    """So many starts, on one directory that the first of them makes."""
    with tempfile.TemporaryDirectory(prefix="kwire-footprint-") as folder:
        return [_sample(command_for, Path(folder) / "data") for _ in range(starts)]


def _sample(command_for: CommandFor, data_dir: Path) -> Footprint:
    address = free_address()
    command = command_for(data_dir, address)
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _first_answer(address, child)
        took_s = time.perf_counter() - began
        return Footprint(took_s * 1000, _processor_ms(child.pid), _resident_mb(child.pid))
    finally:
        child.terminate()
        child.wait(30)


def _first_answer(address: str, child: "subprocess.Popen[bytes]") -> None:
    """Knock until somebody answers a request."""
    host, port = address.split(":")
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while True:
        assert child.poll() is None, "the broker ended"
        assert time.monotonic() < deadline, "the broker does not answer"
        try:
            with socket.create_connection((host, int(port)), PATIENCE_S) as peer:
                peer.sendall(HELLO)
                if peer.recv(4):
                    return
        except ConnectionError:
            pause.wait(0.001)


def _processor_ms(pid: int) -> float:
    # After the name, which may hold spaces: the 12th and 13th fields are user and system time.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def main() -> int:
    for name, command_for, starts in (("kwire", kwire_command, 10), ("Kafka", kafka_command, 3)):
        seen = measure(command_for, starts)
        start, processor, idle = (statistics.median(values) for values in zip(*seen, strict=True))
        print(
            f"{name:<6} first answer after {start:6.0f} ms ({processor:.0f} ms of processor time),"
            f" {idle:5.0f} MB idle; medians of {starts} starts"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
