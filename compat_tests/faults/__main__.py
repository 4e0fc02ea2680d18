"""`python -m compat_tests.faults copy|members|loading`: the long runs, with a summary each."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from compat_tests.crash.ledger import Broken
from compat_tests.faults import copying
from compat_tests.faults.copiers.commands import COPIERS
from compat_tests.faults.internal_topics import complaints


def main() -> int:
    arguments = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="kwire-faults-") as folder:
        try:
            arguments.run(arguments, Path(folder) / "data")
        except Broken as broken:
            print(f"\nfaults: BROKEN: {broken}", file=sys.stderr)
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.faults", description=__doc__)
    commands = parser.add_subparsers(required=True)
    copy = commands.add_parser("copy", help="copy exactly once while copiers and broker die")
    copy.add_argument("--client", choices=sorted(COPIERS), default="confluent")
    copy.add_argument("--records", type=int, default=100_000)
    copy.add_argument("--kills", type=int, default=30)
    copy.set_defaults(run=_copy)
    for command in (copy,):
        command.add_argument("--seed", type=int, default=random.randrange(2**31))
    return parser


def _copy(arguments: argparse.Namespace, data_dir: Path) -> None:
    plan = copying.Plan(arguments.client, arguments.records, arguments.kills, arguments.seed)
    print(f"faults: {plan}")
    print(f"\nfaults: {copying.run(data_dir, plan, _tell)}")
    _judge(data_dir)


def _judge(data_dir: Path) -> None:
    found = complaints(data_dir)
    if found:
        raise Broken("kafka-dump-log says: " + "\n".join(found[:20]))
    print("faults: kafka-dump-log decodes both internal topics")


def _tell(line: str) -> None:
    print(f"\rfaults: {line:70}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
