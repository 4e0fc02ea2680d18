"""How much time Python takes for one small request, from `recv` to `send`.

The time is that of the processor, less that of the same system calls made bare. It is also given in
turns of a plain loop that is timed in between: machines differ and change, that ratio hardly does.
The budget of a request is `BUDGET_TURNS`, which is 10 µs on the machine the design was measured on.
"""

import argparse
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.one_connection import OneConnection

BUDGET_TURNS = 600
ROUNDS = 20
REQUESTS_PER_ROUND = 1_000
LOOP_TURNS = 20_000

_RECEIVED = bytearray(64 * 1024)


class Cost(NamedTuple):
    """Of one request."""

    name: str
    python_us: float
    turns: float


def measure(rounds: int = ROUNDS) -> list[Cost]:
    """The cost of produce and fetch requests in the versions that common clients use."""
    broker = OneConnection()
    try:
        costs = []
        for version in (7, 9, 13):
            frame = broker.produce_frame(version)
            costs.append(_measure_one(broker, f"produce v{version}", frame, rounds))
        for version in (11, 12, 16):
            frame = broker.fetch_frame(version, broker.next_offset - 1)
            costs.append(_measure_one(broker, f"fetch v{version}", frame, rounds))
        return costs
    finally:
        broker.close()


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the quickest counts")


def run(arguments: argparse.Namespace) -> None:
    out = sys.stdout
    out.write(f"{'request':<14}{'Python µs':>10}{'loop turns':>12}{'of budget':>11}\n")
    for cost in measure(arguments.rounds):
        share = cost.turns / BUDGET_TURNS
        out.write(f"{cost.name:<14}{cost.python_us:>10.2f}{cost.turns:>12.0f}{share:>11.0%}\n")


def _measure_one(broker: OneConnection, name: str, frame: bytes, rounds: int) -> Cost:
    """The quickest of many rounds: whatever else the machine does only ever adds time."""
    bare = _Bare(broker, frame)
    try:
        whole_us = bare_us = turn_us = float("inf")
        for _ in range(rounds):
            whole_us = min(whole_us, _timed(lambda: _requests(broker, frame), REQUESTS_PER_ROUND))
            bare_us = min(bare_us, _timed(bare.run, REQUESTS_PER_ROUND))
            turn_us = min(turn_us, _timed(_plain_loop, LOOP_TURNS))
    finally:
        bare.close()
    python_us = whole_us - bare_us
    return Cost(name, python_us, python_us / turn_us)


def _timed(work: Callable[[], None], count: int) -> float:
    start = time.thread_time()
    work()
    return (time.thread_time() - start) / count * 1e6


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

    def __init__(self, broker: OneConnection, frame: bytes) -> None:
        broker.client.send(frame)
        broker.serve()
        self._answer = broker.client.recv(65536)
        self._frame = frame
        self._client, self._server = socket.socketpair()
        self._fd = os.open(broker.directory / "bare", os.O_RDWR | os.O_CREAT | os.O_APPEND)

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
