"""Where Apache Kafka's jars are, and how they get there: Maven resolves `pom.xml` into `.cache/`.

The folder's name carries a digest of the pom, so a changed pom resolves anew and an interrupted
download, which never reaches its final name, is never taken for a finished one.
"""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(__file__).parents[2] / ".cache"


class NotPrepared(Exception):
    """Something the compatibility tests run is missing; the text says what to do."""


def jar_dir() -> Path:
    """Where the jars of this pom belong, whether they are there yet or not."""
    return CACHE / f"kafka-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"


def are_here() -> bool:
    return jar_dir().is_dir()


def version() -> str:
    """The version of Apache Kafka that the pom asks for."""
    found = re.search(r"<kafka.version>(.+)</kafka.version>", POM.read_text())
    assert found is not None
    return found[1]


def class_path() -> str:
    """The class path of Kafka's broker and tools, as the JVM takes it."""
    if not are_here():
        raise NotPrepared("Apache Kafka's jars are not here yet: run `make tools`")
    return f"{jar_dir()}/*"


def resolve() -> None:
    """Download the jars unless they are there."""
    if are_here():
        return
    unfinished = jar_dir().with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    print(f"tools: resolving Apache Kafka's jars with Maven into {CACHE.name}/ (about 45 MB)")
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(POM)]
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={unfinished}"]
    done = subprocess.run([*command, goal, *options], check=False)
    if done.returncode != 0:
        raise NotPrepared("Maven could not resolve Apache Kafka's jars; its output is above")
    unfinished.rename(jar_dir())
