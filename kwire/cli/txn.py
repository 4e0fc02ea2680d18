"""`kwire txn`: list, describe and abort the transactions of a cluster.

The words on the command line are here; what they do is in `txn_views` and `txn_changes`.
"""

import argparse

from kwire.cli.cluster import add_cluster_options
from kwire.cli.output import add_format_option
from kwire.cli.txn_changes import abort
from kwire.cli.txn_views import describe, list_transactions

_EXAMPLES = """\
examples:
  kwire txn list --state Ongoing
  kwire txn list --longer-than 300 --format json
  kwire txn describe payments-1
  kwire txn abort payments-1
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "List, describe and abort transactions."
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", metavar="<action>", required=True)
    _configure_list(_action(actions, "list", "show which transactional ids there are"))
    _configure_describe(_action(actions, "describe", "show producer, age and partitions"))
    _configure_abort(_action(actions, "abort", "abort what is open, and fence its producer"))


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
    parser.set_defaults(act=list_transactions)
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="STATE",
        help="only those in this state (Ongoing, CompleteCommit, ...); may be given several times",
    )
    parser.add_argument(
        "--longer-than",
        type=float,
        metavar="SECONDS",
        help="only those that began longer ago",
    )
    _add_common_options(parser)


def _configure_describe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=describe)
    parser.add_argument("ids", nargs="*", metavar="ID", help="transactional ids (default: all)")
    _add_common_options(parser)


def _configure_abort(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=abort)
    parser.add_argument("ids", nargs="+", metavar="ID", help="transactional ids")
    _add_common_options(parser)


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    add_format_option(parser)
    add_cluster_options(parser)
