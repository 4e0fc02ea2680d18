"""Bring everything the compatibility tests run onto this machine: JDK, Maven, kcat, Kafka's jars.

What is missing is installed with apt-get where that is possible (Debian or Ubuntu, as root).
Elsewhere it is named, and the command fails: a test is never skipped in silence.
"""

import os
import re
import shutil
import subprocess
import sys

from compat_tests.oracle import jars
from compat_tests.oracle.jars import NotPrepared

OLDEST_JDK = 17
JDK_PACKAGES = ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "default-jre-headless")


def main() -> int:
    try:
        _ensure_jdk()
        _ensure_command("mvn", packages=("maven",))
        _ensure_command("kcat", packages=("kcat",))
        jars.resolve()
    except NotPrepared as missing:
        print(f"tools: {missing}", file=sys.stderr)
        return 1
    return 0


def jdk_version() -> int | None:
    """The feature release of the `java` on the path, or None."""
    if shutil.which("java") is None:
        return None
    shown = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', shown.stderr)
    return int(found[1]) if found else None


def _ensure_jdk() -> None:
    found = jdk_version()
    if found is not None and found >= OLDEST_JDK:
        return
    why = "no java here" if found is None else f"java is version {found}"
    _install(f"JDK {OLDEST_JDK} or newer ({why})", JDK_PACKAGES)
    found = jdk_version()
    if found is None or found < OLDEST_JDK:
        raise NotPrepared(f"need JDK {OLDEST_JDK} or newer first on the path; java is {found}")


def _ensure_command(name: str, packages: tuple[str, ...]) -> None:
    if shutil.which(name) is None:
        _install(name, packages)
    if shutil.which(name) is None:
        raise NotPrepared(f"need {name} on the path")


def _install(what: str, packages: tuple[str, ...]) -> None:
    """Install the first of `packages` that this distribution has."""
    if shutil.which("apt-get") is None:
        raise NotPrepared(f"need {what}: install it, then run this again")
    if os.geteuid() != 0:
        raise NotPrepared(f"need {what}: sudo apt-get install {packages[-1]}")
    print(f"tools: installing {what} with apt-get")
    _apt("update")
    for package in packages:
        known = subprocess.run(
            ["apt-cache", "show", package], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if known.returncode == 0:
            _apt("install", "--yes", "--no-install-recommends", package)
            return
    raise NotPrepared(f"need {what}, but apt-get knows none of: {' '.join(packages)}")


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
