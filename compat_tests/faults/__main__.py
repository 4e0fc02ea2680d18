"""`python -m compat_tests.faults copy|members|loading|streams`: the long runs, and their figures.

`copy` makes an exactly-once copy while copiers and broker are killed, `members` lets the members of
a group come and go, `loading` measures how soon a broker that comes back knows its groups, and
`streams` counts words with Kafka Streams over restarts of the broker.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from compat_tests.crash.ledger import Broken
from compat_tests.faults import copying, loading, membership, streams
from compat_tests.faults.copiers.commands import COPIERS
from compat_tests.faults.internal_topics import complaints
from compat_tests.faults.members.commands import FLAVOURS, MEMBERS


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
    copy = commands.add_parser("copy")
    copy.add_argument("--client", choices=sorted(COPIERS), default="confluent")
    copy.add_argument("--records", type=int, default=100_000)
    copy.add_argument("--kills", type=int, default=30)
    copy.add_argument("--seed", type=int)
    copy.set_defaults(run=_copy)
    members = commands.add_parser("members")
    members.add_argument("--client", choices=sorted(MEMBERS), default="confluent")
    members.add_argument("--protocol", choices=["classic", "consumer"], default="classic")
    members.add_argument("--cooperative", action="store_true", help="of the classic protocol")
    members.add_argument("--static", action="store_true", help="members that keep their places")
    members.add_argument("--members", type=int, default=10)
    members.add_argument("--minutes", type=float, default=10)
    members.add_argument("--seed", type=int)
    members.set_defaults(run=_members)
    load = commands.add_parser("loading")
    load.add_argument("--groups", type=int, default=10_000)
    load.add_argument("--offsets-per-group", type=int, default=10)
    load.set_defaults(run=_loading)
    words = commands.add_parser("streams")
    words.add_argument("--lines", type=int, default=20_000)
    words.add_argument("--kills", type=int, default=3)
    words.set_defaults(run=_streams)
    return parser


def _copy(arguments: argparse.Namespace, data_dir: Path) -> None:
    plan = copying.Plan(arguments.client, arguments.records, arguments.kills, _seed(arguments))
    print(f"faults: {plan}")
    print(f"\nfaults: {copying.run(data_dir, plan, _tell)}")
    _judge(data_dir)


def _members(arguments: argparse.Namespace, data_dir: Path) -> None:
    flavour = "cooperative" if arguments.cooperative else "eager"
    if arguments.protocol == "consumer":
        flavour = "consumer"
    if flavour not in FLAVOURS[arguments.client]:
        raise Broken(f"{arguments.client} does not know {flavour} groups")
    plan = membership.Plan(
        arguments.client,
        flavour,
        arguments.members,
        arguments.minutes * 60,
        _seed(arguments),
        arguments.static,
    )
    print(f"faults: {plan}")
    print(f"\nfaults: {membership.run(data_dir, plan, _tell)}")


def _loading(arguments: argparse.Namespace, data_dir: Path) -> None:
    print(f"faults: {loading.run(data_dir, arguments.groups, arguments.offsets_per_group)}")


def _streams(arguments: argparse.Namespace, data_dir: Path) -> None:
    print(f"faults: {streams.run(data_dir, arguments.lines, arguments.kills)}")
    _judge(data_dir)


def _seed(arguments: argparse.Namespace) -> int:
    given: int | None = arguments.seed
    return random.randrange(2**31) if given is None else given


def _judge(data_dir: Path) -> None:
    found = complaints(data_dir)
    if found:
        raise Broken("kafka-dump-log says: " + "\n".join(found[:20]))
    print("faults: kafka-dump-log decodes both internal topics")


def _tell(line: str) -> None:
    print(f"\rfaults: {line:70}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
