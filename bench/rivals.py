"""The brokers that are measured side by side, and how each is started for it.

Apache Kafka gets the memory and the collector that its own start script gives it; the quick flags
of the compatibility tests would slow it down once it is warm.
"""

import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from compat_tests.oracle import brokers

KAFKA_JVM = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC")
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0

_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)


class Rival(NamedTuple):
    name: str
    command: Callable[[Path, str], list[str]]


class Running(NamedTuple):
    """A broker that has answered its first request."""

    process: "subprocess.Popen[bytes]"
    bootstrap: str
    took_s: float
    """From exec to the first answer."""

    def rss_mb(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmRSS in /proc")


def kwire() -> Rival:
    return Rival("kwire", brokers.kwire_command)


def kafka() -> Rival:
    return Rival("Apache Kafka", partial(brokers.kafka_command, jvm=KAFKA_JVM))


@contextmanager
def running(
    rival: Rival, data_dir: Path, *, end: signal.Signals = signal.SIGTERM
) -> Iterator[Running]:
    """Start a broker on a directory, and end it in the way that is asked for."""
    address = brokers.free_address()
    command = rival.command(data_dir, address)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _first_answer(address, begin + START_TIMEOUT_S)
        yield Running(process, address, time.perf_counter() - begin)
    finally:
        os.kill(process.pid, end)
        process.wait(STOP_TIMEOUT_S)


def _first_answer(address: str, deadline: float) -> None:
    """Knock until somebody opens and answers ApiVersions."""
    host, _, port = address.rpartition(":")
    while time.perf_counter() < deadline:
        try:
            with socket.create_connection((host, int(port)), timeout=1) as sock:
                sock.sendall(_API_VERSIONS)
                if sock.recv(4):
                    return
        except OSError:
            time.sleep(0.001)
    raise TimeoutError(f"no answer at {address}")
