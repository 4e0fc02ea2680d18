"""`kwire dump-log`: what is in the files of a log, read straight from disk, and what is broken.

The broker may be running: nothing is written, and the end of a file that grows is read as it is.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from kwire.cli import dump_indexes
from kwire.cli.dump_items import Damage, Entry, Found
from kwire.cli.dump_segment import dump_segment
from kwire.cli.failures import CommandFailed
from kwire.cli.output import JSON, TEXT

Dump = Callable[[Path], Found]

_BY_NAME: dict[str, Dump] = {
    "leader-epoch-checkpoint": dump_indexes.dump_epochs,
    "recovery-point-offset-checkpoint": dump_indexes.dump_offsets,
    "log-start-offset-checkpoint": dump_indexes.dump_offsets,
    "replication-offset-checkpoint": dump_indexes.dump_offsets,
    "cleaner-offset-checkpoint": dump_indexes.dump_offsets,
    "partition.metadata": dump_indexes.dump_properties,
    "meta.properties": dump_indexes.dump_properties,
}
_BY_SUFFIX: dict[str, Dump] = {
    ".index": dump_indexes.dump_offset_index,
    ".timeindex": dump_indexes.dump_time_index,
    ".txnindex": dump_indexes.dump_transaction_index,
    ".snapshot": dump_indexes.dump_snapshot,
}
_SEGMENT = ".log"

_EXAMPLES = """\
examples:
  kwire dump-log data/orders-0/00000000000000000000.log --deep
  kwire dump-log data/orders-0 --format json | jq 'select(.kind == "batch")'
  kwire dump-log data --quiet                       # only damage; exits 1 if there is any
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show what is in segment, index, snapshot and checkpoint files, and check all of it. "
        "Exits 1 if something is damaged."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="files, directories of partitions, or whole data directories",
    )
    parser.add_argument("--deep", action="store_true", help="show and check the records too")
    parser.add_argument("-q", "--quiet", action="store_true", help="show only damage")
    parser.add_argument(
        "--format",
        choices=(TEXT, JSON),
        default=TEXT,
        help="text for people, or a JSON object a line for programs (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    damages = 0
    # Every path is looked at before anything is shown: a wrong one is better told first.
    for path in [file for each in arguments.paths for file in _files(each)]:
        if not arguments.quiet and arguments.format == TEXT:
            print(f"Dumping {path}")
        for found in _dump(path, deep=arguments.deep):
            if isinstance(found, Damage):
                damages += 1
            elif arguments.quiet:
                continue
            shown = _as_json(path, found) if arguments.format == JSON else _as_text(path, found)
            print(shown)
    if damages:
        sys.stdout.flush()
        places = "one place is" if damages == 1 else f"{damages} places are"
        print(f"kwire dump-log: {places} damaged", file=sys.stderr)
    return 1 if damages else 0


def _files(path: Path) -> Iterator[Path]:
    """The file itself; of a directory the files known here, then those of its partitions."""
    if not path.is_dir():
        path.stat()
        if not _is_known(path):
            raise CommandFailed(f"{path} is no file of a log")
        yield path
        return
    children = sorted(path.iterdir())
    inner = [each for child in children if child.is_dir() for each in sorted(child.iterdir())]
    known = [each for each in (*children, *inner) if each.is_file() and _is_known(each)]
    if not known:
        raise CommandFailed(f"{path} holds no file of a log")
    yield from known


def _is_known(path: Path) -> bool:
    if path.name in _BY_NAME:
        return True
    return path.stem.isdecimal() and (path.suffix == _SEGMENT or path.suffix in _BY_SUFFIX)


def _dump(path: Path, *, deep: bool) -> Found:
    if path.suffix == _SEGMENT:
        return dump_segment(path, deep=deep)
    return (_BY_NAME.get(path.name) or _BY_SUFFIX[path.suffix])(path)


def _as_json(path: Path, found: Entry | Damage) -> str:
    if isinstance(found, Damage):
        document = {"file": str(path), "kind": "damage", **found._asdict()}
    else:
        document = {"file": str(path), "kind": found.kind, **found.fields}
    return json.dumps(document, ensure_ascii=False)


def _as_text(path: Path, found: Entry | Damage) -> str:
    if isinstance(found, Damage):
        offset = "" if found.offset is None else f", offset {found.offset}"
        return f"DAMAGED {path}, byte {found.position}{offset}: {found.problem}"
    words = [f"{name}: {_value(value)}" for name, value in found.fields.items()]
    return ("| " if found.kind == "record" else "") + " ".join(words)


def _value(value: object) -> str:
    """Numbers and names as they are; keys, payloads and the like so that they stay on the line."""
    if isinstance(value, str) and value and value.isprintable() and " " not in value:
        return value
    return json.dumps(value, ensure_ascii=False)
