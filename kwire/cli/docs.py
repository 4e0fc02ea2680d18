"""`kwire docs`: write the reference pages that the code itself knows best.

Settings and served APIs are declared once; these pages are made from the declarations, and a test
compares them with what is in the repository.
"""

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kwire.config.broker import BROKER_KEYS, keys_of_topic_defaults
from kwire.config.keys import Key
from kwire.config.topic import TOPIC_KEYS
from kwire.config.unsupported import UNSUPPORTED_BROKER_KEYS, UNSUPPORTED_TOPIC_KEYS
from kwire.handlers.table import ROUTES

_MADE = "<!-- Made by `kwire docs docs/reference`: change the declarations, not this page. -->"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, help="where to write the pages")


def run(arguments: argparse.Namespace) -> int:
    for name, text in pages().items():
        path = arguments.directory / name
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    return 0


def pages() -> dict[str, str]:
    """The text of every page, by its file name."""
    return {
        "topic_settings.md": _topic_settings(),
        "broker_settings.md": _broker_settings(),
        "apis.md": _apis(),
    }


def _topic_settings() -> str:
    rows = [
        (
            f"`{key.name}`",
            _default(key),
            key.parser.valid or key.parser.type.name.lower(),
            f"`{key.broker_name}`" if key.broker_name else "",
            key.doc,
        )
        for _, key in sorted(TOPIC_KEYS.items())
    ]
    return _page(
        "Topic settings",
        "Every setting of a topic, each of them enforced. Whatever a topic does not set comes from"
        " the broker's setting in the fourth column.",
        _table(("name", "default", "values", "broker's default", "what it does"), rows),
        "Settings of Kafka's that are refused, because nothing would follow from them:",
        _reasons(UNSUPPORTED_TOPIC_KEYS),
    )


def _broker_settings() -> str:
    defaults = keys_of_topic_defaults()
    rows = [
        (
            f"`{key.name}`",
            _default(key),
            key.parser.valid or key.parser.type.name.lower(),
            "yes" if key.dynamic else "",
            key.doc,
        )
        for name, key in sorted(BROKER_KEYS.items())
        if name not in defaults
    ]
    return _page(
        "Broker settings",
        "Every setting of a broker, each of them enforced. In a file they stand as in Kafka's"
        " `server.properties`, in the environment by the rule of Kafka's container image"
        " (`KWIRE_` or `KAFKA_`, then the name in capitals, `.` as `_`), on the command line as"
        " `--set name=value`. The defaults that topics inherit are on the page"
        " [topic settings](topic_settings.md).",
        _table(("name", "default", "values", "changes at run time", "what it does"), rows),
        "Settings of Kafka's that kwire has no use for. In a file they are named in one warning;"
        " a client that sets one is refused:",
        _reasons(UNSUPPORTED_BROKER_KEYS),
    )


def _apis() -> str:
    rows = [
        (str(key), route.api.name, f"{route.api.versions[0]}-{route.api.versions[1]}")
        for key, route in sorted(ROUTES.items())
    ]
    return _page(
        "APIs",
        "What this broker serves and advertises, with the versions of Apache Kafka 4.3. Produce is"
        " advertised from version 0, as Kafka does for the sake of old librdkafka, and read from"
        " version 3 on.",
        _table(("key", "name", "versions"), rows),
    )


def _default(key: Key[Any]) -> str:
    shown = key.show(key.default)
    return "" if shown in (None, "") else f"`{shown}`"


def _reasons(reasons: Mapping[str, str]) -> str:
    rows = [(f"`{name}`", why) for name, why in sorted(reasons.items())]
    return _table(("name", "why"), rows)


def _page(title: str, *parts: str) -> str:
    return "\n\n".join((f"# {title}", _MADE, *parts)) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [_row(head), _row(("---",) * len(head)), *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
