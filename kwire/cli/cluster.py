"""Which cluster a command talks to, and for how long it waits for an answer."""

import argparse
import os

from kwire.peers.client import Client
from kwire.peers.connection import Address, parse_addresses

VARIABLE = "KWIRE_BOOTSTRAP_SERVER"
DEFAULT_SERVER = "localhost:9092"
DEFAULT_TIMEOUT_S = 10.0


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "-b",
        "--bootstrap-server",
        type=_addresses,
        default=os.environ.get(VARIABLE) or DEFAULT_SERVER,
        metavar="HOST:PORT[,...]",
        help=f"brokers to ask first (default: ${VARIABLE}, or {DEFAULT_SERVER})",
    )
    group.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_TIMEOUT_S,
        metavar="SECONDS",
        help="how long to wait for a broker (default: 10)",
    )


def connect(arguments: argparse.Namespace) -> Client:
    """A client of that cluster; it connects when it is first asked something."""
    return Client(arguments.bootstrap_server, timeout_s=arguments.timeout)


def _addresses(text: str) -> list[Address]:
    try:
        return parse_addresses(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds
