"""`kwire group`: list, describe, move and delete consumer groups of a cluster.

The words on the command line are here; what they do is in `group_views` and `group_changes`.
"""

import argparse

from kwire.cli.cluster import add_cluster_options
from kwire.cli.group_changes import delete, seek
from kwire.cli.group_views import describe, list_groups
from kwire.cli.output import add_format_option
from kwire.cli.start import parse_start

_EXAMPLES = """\
examples:
  kwire group list --state Stable
  kwire group describe billing
  kwire group seek billing --to beginning                     # shows what would happen
  kwire group seek billing --to @1700000000000 --execute
  kwire group seek billing --topic orders:0,1 --shift-by -100 --execute
  kwire group delete billing
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "List, describe, move and delete consumer groups."
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", metavar="<action>", required=True)
    _configure_list(_action(actions, "list", "show which groups there are"))
    _configure_describe(_action(actions, "describe", "show members, offsets and lag"))
    _configure_seek(_action(actions, "seek", "change where a group goes on reading"))
    _configure_delete(_action(actions, "delete", "delete groups with all their offsets"))


def run(arguments: argparse.Namespace) -> int:
    code: int = arguments.act(arguments)
    return code


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    return actions.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _configure_list(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=list_groups)
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="STATE",
        help="only groups in this state (Stable, Empty, ...); may be given several times",
    )
    _add_common_options(parser)


def _configure_describe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=describe)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="default: all")
    _add_common_options(parser)


def _configure_seek(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=seek)
    parser.add_argument("group", metavar="GROUP", help="a group without running members")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--to",
        type=parse_start,
        metavar="WHERE",
        help="beginning, end, an offset, -N for the last N of each partition,"
        " @MS for a time in milliseconds",
    )
    where.add_argument(
        "--shift-by", type=int, metavar="N", help="so many records on, or back if it is negative"
    )
    parser.add_argument(
        "-t",
        "--topic",
        action="append",
        type=_topic,
        default=[],
        metavar="TOPIC[:N,...]",
        help="a topic, or some partitions of it; may be given several times"
        " (default: everything the group has committed)",
    )
    parser.add_argument(
        "--execute", action="store_true", help="do it; without this it is only shown"
    )
    _add_common_options(parser)


def _configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=delete)
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    parser.add_argument(
        "--if-exists", action="store_true", help="it is no error when a group is not there"
    )
    _add_common_options(parser)


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    add_format_option(parser)
    add_cluster_options(parser)


def _topic(text: str) -> tuple[str, list[int] | None]:
    name, colon, numbers = text.partition(":")
    if not colon:
        return name, None
    parts = numbers.split(",")
    if not name or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form topic:0,1")
    return name, [int(part) for part in parts]
