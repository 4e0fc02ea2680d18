"""`kwire serve`: run one broker until it is told to stop."""

import argparse
import gc
import logging
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.config.environment import from_environment
from kwire.config.layered import Layers, load
from kwire.config.properties import parse_properties
from kwire.controller.commands import USE_DEFAULT, NewTopic
from kwire.errors import InvalidConfig

if TYPE_CHECKING:
    from kwire.app import App

POLICIES = ("compact", "delete")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listeners",
        metavar="NAME://HOST:PORT,...",
        help="where to listen; port 0 takes a free one (default: PLAINTEXT://localhost:9092)",
    )
    parser.add_argument(
        "--data-dir", metavar="DIR", help="where records are kept (default: ./kwire-data)"
    )
    parser.add_argument("--config", metavar="FILE", help="a server.properties file")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="any broker setting, by Kafka's name; may be repeated",
    )
    parser.add_argument(
        "--topics",
        metavar="NAME[:PARTITIONS[:compact]],...",
        action="append",
        default=[],
        help="topics to create unless they exist, for example orders:12,users:3:compact;"
        " may be repeated",
    )
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="info",
        help="how much to tell on standard error (default: info)",
    )


def run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    logging.basicConfig(
        level=arguments.log_level.upper(),
        format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)",
    )
    raise_file_limit()
    layers = read_layers(arguments, os.environ)
    topics = parse_topics(",".join(arguments.topics))
    # What a start makes lives as long as the broker: the collector need never look at it.
    gc.disable()
    # Imported only now: a mistake in the command line is told before anything heavy is loaded.
    from kwire.app import App

    app = App(layers)
    try:
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: app.stop_soon())
        app.start(topics)
        gc.freeze()
        gc.enable()
        print(banner(app, time.monotonic() - started), flush=True)
        app.run()
    finally:
        app.close()
    print("kwire has stopped", flush=True)
    return 0


def raise_file_limit() -> None:
    """As many open files as the system allows: shells start with few, and Java does the same."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def read_layers(arguments: argparse.Namespace, environ: Mapping[str, str]) -> Layers:
    """The settings of file, environment and flags, the later ones winning."""
    file = _read_file(Path(arguments.config)) if arguments.config else {}
    flags: dict[str, str] = {}
    for item in arguments.settings:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise InvalidConfig(f"--set {item}: expected KEY=VALUE")
        flags[name.strip()] = value
    if arguments.listeners is not None:
        flags["listeners"] = arguments.listeners
    if arguments.data_dir is not None:
        flags["log.dirs"] = arguments.data_dir
    return load(file=file, environment=from_environment(environ), flags=flags)


def _read_file(path: Path) -> dict[str, str]:
    try:
        return parse_properties(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"--config {path}: not a text file in UTF-8 ({error})") from None


def parse_topics(text: str) -> list[NewTopic]:
    """`name[:partitions[:policy]]`, comma separated; the policy is compact or delete."""
    topics = [_parse_topic(item.strip()) for item in text.split(",") if item.strip()]
    times = Counter(topic.name for topic in topics)
    for name, count in times.items():
        if count > 1:
            raise InvalidConfig(f"--topics: {name} is named {count} times")
    return topics


def _parse_topic(item: str) -> NewTopic:
    name, *rest = item.split(":")
    count = rest[0] if rest else str(USE_DEFAULT)
    policy = rest[1] if len(rest) > 1 else None
    is_count = count.isascii() and count.isdigit() and int(count) > 0
    if len(rest) > 2 or (rest and not is_count) or policy not in (None, *POLICIES):
        raise InvalidConfig(f"--topics {item}: expected NAME[:PARTITIONS[:compact|delete]]")
    config = {} if policy is None else {"cleanup.policy": policy}
    return NewTopic(name, partition_count=int(count), config=config)


def banner(app: "App", took_s: float) -> str:
    """What a person needs to know next."""
    topics = app.controller.image.topics.values()
    partitions = sum(len(topic.partitions) for topic in topics)
    servers = ",".join(f"{_bracketed(one.host)}:{one.port}" for one in app.endpoints)
    first = app.endpoints[0]
    return "\n".join(
        (
            f"kwire is ready after {took_s * 1000:.0f} ms",
            f"  bootstrap.servers  {servers}",
            f"  data directory     {app.directory.absolute()}",
            f"  topics             {len(topics)} with {partitions} partitions",
            f"  try                kwire topic list --bootstrap-server"
            f" {_bracketed(first.host)}:{first.port}",
            "  stop               Ctrl-C",
        )
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
