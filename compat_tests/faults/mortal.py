"""One broker that is killed and started again on the same address and directory."""

import time
from collections.abc import Mapping
from pathlib import Path

from compat_tests.oracle.brokers import free_address, start_kwire
from compat_tests.oracle.processes import BrokerProcess


class MortalBroker:
    def __init__(self, data_dir: Path, settings: Mapping[str, str]) -> None:
        self.data_dir = data_dir
        self.address = free_address()
        self.kills = 0
        self.slowest_start_s = 0.0
        self._settings = settings
        self._process = self._start()

    def __enter__(self) -> "MortalBroker":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def last_words(self) -> str:
        return "".join(self._process.printed[-40:])

    def restart(self) -> None:
        """Kill it without a word and return when the next one serves."""
        self.kills += 1
        self._process.kill()
        began = time.monotonic()
        self._process = self._start()
        self.slowest_start_s = max(self.slowest_start_s, time.monotonic() - began)

    def stop(self) -> int:
        return self._process.stop()

    def _start(self) -> BrokerProcess:
        return start_kwire(self.data_dir, self._settings, address=self.address)
