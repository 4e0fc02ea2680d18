"""Disks that can be full, without being root: a small tmpfs, or a limit on the size of files.

The tmpfs is mounted in a user and mount namespace of the broker's own (`unshare`), where the
machine allows that; its files are reached from outside through /proc/<pid>/root.
"""

import resource
import subprocess
from pathlib import Path
from typing import Protocol

from compat_tests.oracle.brokers import free_address, kwire_command
from compat_tests.oracle.processes import BrokerProcess

TMPFS_BYTES = 8 << 20
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
MOUNT = f'mount -t tmpfs -o size={TMPFS_BYTES} tmpfs "$0" && exec "$@"'


class Disk(Protocol):
    broker: BrokerProcess

    def fill(self) -> None:
        """Leave room for a few records only."""

    def free(self) -> None:
        """Give the room back."""


class LimitedFiles:
    """Files that may not grow: the kernel refuses with EFBIG what would make them longer."""

    def __init__(self, data_dir: Path) -> None:
        address = free_address()
        self.broker = BrokerProcess(kwire_command(data_dir, address), address, data_dir)
        self.broker.wait_for("kwire is ready", timeout_s=15)

    def fill(self) -> None:
        largest = max(path.stat().st_size for path in self.broker.log_dir.rglob("*.log"))
        self._limit(largest + 50_000)

    def free(self) -> None:
        self._limit(resource.RLIM_INFINITY)

    def _limit(self, size: int) -> None:
        limits = (size, resource.RLIM_INFINITY)
        resource.prlimit(self.broker.pid, resource.RLIMIT_FSIZE, limits)


class SmallTmpfs:
    """A file system of a few megabytes, filled with a file that can be removed again."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir()
        address = free_address()
        command = [*UNSHARE, MOUNT, str(data_dir), *kwire_command(data_dir, address)]
        # The namespace's /proc/<pid>/root shows what the broker sees.
        self.broker = BrokerProcess(command, address, data_dir)
        self.broker.wait_for("kwire is ready", timeout_s=15)
        self._ballast = Path(f"/proc/{self.broker.pid}/root{data_dir}/ballast")

    def fill(self) -> None:
        with self._ballast.open("wb", buffering=0) as ballast:
            size = 0
            try:
                while True:
                    size += ballast.write(bytes(4096))
            except OSError:
                ballast.truncate(max(0, size - 50_000))

    def free(self) -> None:
        self._ballast.unlink()


def can_mount(folder: Path) -> bool:
    """Whether this machine lets us mount a tmpfs in a namespace of our own."""
    try:
        tried = subprocess.run(
            [*UNSHARE, MOUNT, str(folder), "true"], capture_output=True, timeout=10, check=False
        )
    except OSError:
        return False
    return tried.returncode == 0
