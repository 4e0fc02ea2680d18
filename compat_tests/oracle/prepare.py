"""Bring everything the compatibility tests run onto this machine: JDK, kcat, Maven, Kafka's jars.

What is missing is installed with apt-get where that is possible (Debian or Ubuntu, as root).
Elsewhere all of it is named, and the command fails: a test is never skipped in silence. Maven is
needed only until the jars are here. Running this again does nothing but say so.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from compat_tests.oracle import jars
from compat_tests.oracle.jars import NotPrepared

OLDEST_JDK = 17


class Need(NamedTuple):
    """Something to be found on the path; `packages` are Debian's names for it, best first."""

    what: str
    is_met: Callable[[], bool]
    packages: tuple[str, ...]


def main() -> int:
    try:
        _ensure(needs())
        jars.resolve()
    except NotPrepared as missing:
        print(f"tools: {missing}", file=sys.stderr)
        return 1
    print(f"tools: ready, with java {jdk_version()}, kcat and Apache Kafka {jars.version()}")
    return 0


def needs() -> list[Need]:
    jdk = ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "default-jre-headless")
    wanted = [
        Need(f"java {OLDEST_JDK} or newer", _has_jdk, jdk),
        Need("kcat", lambda: shutil.which("kcat") is not None, ("kcat",)),
    ]
    if not jars.are_here():
        wanted.append(Need("mvn", lambda: shutil.which("mvn") is not None, ("maven",)))
    return wanted


def jdk_version() -> int | None:
    """The feature release of the `java` on the path, or None."""
    if shutil.which("java") is None:
        return None
    shown = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', shown.stderr)
    return int(found[1]) if found else None


def _has_jdk() -> bool:
    found = jdk_version()
    return found is not None and found >= OLDEST_JDK


def _ensure(wanted: list[Need]) -> None:
    missing = [need for need in wanted if not need.is_met()]
    if not missing:
        return
    _install(missing)
    still = [need.what for need in missing if not need.is_met()]
    if still:
        raise NotPrepared(f"installed, but still not first on the path: {', '.join(still)}")


def _install(missing: list[Need]) -> None:
    names = ", ".join(need.what for need in missing)
    if shutil.which("apt-get") is None:
        raise NotPrepared(f"missing here: {names}; install them, then run this again")
    if os.geteuid() != 0:
        packages = " ".join(need.packages[-1] for need in missing)
        raise NotPrepared(f"missing here: {names}; try: sudo apt-get install {packages}")
    print(f"tools: installing {names} with apt-get")
    _apt("update")
    _apt("install", "--yes", "--no-install-recommends", *map(_known_package, missing))


def _known_package(need: Need) -> str:
    """The first of its packages that this distribution has."""
    for package in need.packages:
        asked = subprocess.run(["apt-cache", "show", package], capture_output=True, check=False)
        if asked.returncode == 0:
            return package
    raise NotPrepared(f"{need.what}: apt-get knows none of {' '.join(need.packages)}")


def _apt(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-qq", *arguments], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        raise NotPrepared(f"`apt-get {' '.join(arguments)}` failed:\n{said}")


if __name__ == "__main__":
    sys.exit(main())
