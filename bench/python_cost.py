"""How much time Python takes for one small request, from `recv` to `send`.

The time is that of the processor, less that of the same system calls made bare. It is also given in
turns of a plain loop that is timed in between: machines differ, and are busy, but that ratio hardly
changes. The budget of a request is 10 µs on the machine that the design was measured on, where such
a turn takes about 27 ns.
"""

import argparse
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.one_connection import OneConnection

BUDGET_TURNS = 370
ROUNDS = 200
REQUESTS_PER_ROUND = 200
LOOP_TURNS = 10_000
COMMON = (
    ("produce", 7),
    ("produce", 9),
    ("produce", 13),
    ("fetch", 11),
    ("fetch", 12),
    ("fetch", 16),
)
"""Requests in the versions that common clients use."""

_RECEIVED = bytearray(64 * 1024)


class Cost(NamedTuple):
    """Of one request."""

    name: str
    python_us: float
    turns: float


def measure(requests: Sequence[tuple[str, int]] = COMMON, *, rounds: int = ROUNDS) -> list[Cost]:
    """The cost of a request that produces one record, or fetches the last one."""
    broker = OneConnection()
    try:
        _serve(broker, broker.produce_frame(9))
        return [_measure_one(broker, name, version, rounds) for name, version in requests]
    finally:
        broker.close()


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the quickest counts")


def run(arguments: argparse.Namespace) -> None:
    out = sys.stdout
    out.write(f"{'request':<14}{'Python µs':>10}{'loop turns':>12}{'of budget':>11}\n")
    for cost in measure(rounds=arguments.rounds):
        share = cost.turns / BUDGET_TURNS
        out.write(f"{cost.name:<14}{cost.python_us:>10.2f}{cost.turns:>12.0f}{share:>11.0%}\n")


def _measure_one(broker: OneConnection, name: str, version: int, rounds: int) -> Cost:
    """The quickest of many rounds: whatever else the machine does only ever adds time."""
    if name == "produce":
        frame = broker.produce_frame(version)
    else:
        frame = broker.fetch_frame(version, broker.next_offset - 1)
    bare = _Bare(frame, _serve(broker, frame), broker.directory)
    try:
        whole_us = bare_us = turn_us = float("inf")
        for _ in range(rounds):
            whole_us = min(whole_us, _timed(lambda: _requests(broker, frame), REQUESTS_PER_ROUND))
            bare_us = min(bare_us, _timed(bare.run, REQUESTS_PER_ROUND))
            turn_us = min(turn_us, _timed(_plain_loop, LOOP_TURNS))
    finally:
        bare.close()
    python_us = whole_us - bare_us
    return Cost(f"{name} v{version}", python_us, python_us / turn_us)


def _timed(work: Callable[[], None], count: int) -> float:
    start = time.thread_time()
    work()
    return (time.thread_time() - start) / count * 1e6


def _serve(broker: OneConnection, frame: bytes) -> bytes:
    """One request and its answer."""
    broker.client.send(frame)
    broker.serve()
    return broker.client.recv(len(_RECEIVED))


def _requests(broker: OneConnection, frame: bytes) -> None:
    send, serve, receive = broker.client.send, broker.serve, broker.client.recv_into
    for _ in range(REQUESTS_PER_ROUND):
        send(frame)
        serve()
        receive(_RECEIVED)


def _plain_loop() -> None:
    total = 0
    for number in range(LOOP_TURNS):
        total += number & 3


class _Bare:
    """The system calls of such a request and nothing else."""

    def __init__(self, frame: bytes, answer: bytes, directory: Path) -> None:
        self._frame = frame
        self._answer = answer
        self._client, self._server = socket.socketpair()
        self._fd = os.open(directory / "bare", os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def run(self) -> None:
        client, server, fd = self._client, self._server, self._fd
        frame, answer = self._frame, self._answer
        for _ in range(REQUESTS_PER_ROUND):
            client.send(frame)
            server.recv_into(_RECEIVED)
            os.write(fd, frame)
            server.send(answer)
            client.recv_into(_RECEIVED)

    def close(self) -> None:
        self._client.close()
        self._server.close()
        os.close(self._fd)
