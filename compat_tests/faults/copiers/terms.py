"""What every copier is told on its command line, whatever client it is written with."""

import argparse
import random
from typing import NamedTuple

RECORDS_PER_TRANSACTION = 50
ABORTED = 0.05
"""How often a copier changes its mind: it aborts, and copies the same records again."""
SESSION_TIMEOUT_MS = 2000
HEARTBEAT_INTERVAL_MS = 200
POLL_S = 0.1


class Terms(NamedTuple):
    address: str
    source: str
    target: str
    group: str
    transactional_id: str
    transaction_timeout_ms: int

    def words(self) -> list[str]:
        return [f"--{name.replace('_', '-')}={value}" for name, value in self._asdict().items()]


def parse() -> tuple[Terms, random.Random]:
    """The terms of this process, and what it decides by."""
    parser = argparse.ArgumentParser()
    for name, kind in Terms.__annotations__.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, required=True)
    return Terms(**vars(parser.parse_args())), random.Random()
