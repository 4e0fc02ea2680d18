"""`kwire topic`: list, create, describe, alter and delete topics of a cluster.

The words on the command line are here; what they do is in `topic_views` and `topic_changes`.
"""

import argparse

from kwire.cli.arguments import count
from kwire.cli.cluster import add_cluster_options
from kwire.cli.output import add_format_option
from kwire.cli.topic_changes import alter, create, delete
from kwire.cli.topic_views import describe, list_topics

_EXAMPLES = """\
examples:
  kwire topic create orders -p 6 --config retention.ms=3600000
  kwire topic list
  kwire topic describe orders --format json
  kwire topic alter orders --partitions 12 --config cleanup.policy=compact
  kwire topic delete orders --if-exists
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "List, create, describe, alter and delete topics."
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(title="actions", metavar="<action>", required=True)
    _configure_list(_action(actions, "list", "show which topics there are"))
    _configure_create(_action(actions, "create", "create topics"))
    _configure_describe(_action(actions, "describe", "show partitions, offsets and configs"))
    _configure_alter(_action(actions, "alter", "change configs, or add partitions"))
    _configure_delete(_action(actions, "delete", "delete topics with all their records"))


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
    parser.set_defaults(act=list_topics)
    parser.add_argument(
        "-i", "--internal", action="store_true", help="show internal topics of the cluster too"
    )
    _add_common_options(parser)


def _configure_create(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=create)
    parser.add_argument("topics", nargs="+", metavar="TOPIC", help="the names of the new topics")
    parser.add_argument(
        "-p", "--partitions", type=count, default=-1, metavar="N", help="default: the broker's"
    )
    parser.add_argument(
        "-r",
        "--replication-factor",
        type=count,
        default=-1,
        metavar="N",
        help="default: the broker's",
    )
    _add_config_option(parser, "a setting of the topic; may be given several times")
    parser.add_argument(
        "--if-not-exists", action="store_true", help="it is no error when a topic is there already"
    )
    _add_common_options(parser)


def _configure_describe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=describe)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="default: all but internal ones")
    _add_common_options(parser)


def _configure_alter(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=alter)
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    _add_config_option(parser, "set a setting; may be given several times")
    parser.add_argument(
        "--delete-config",
        action="append",
        default=[],
        metavar="KEY",
        help="let a setting have the broker's value again; may be given several times",
    )
    parser.add_argument(
        "-p", "--partitions", type=count, metavar="N", help="the new total; it can only grow"
    )
    _add_common_options(parser)


def _configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(act=delete)
    parser.add_argument("topics", nargs="+", metavar="TOPIC")
    parser.add_argument(
        "--if-exists", action="store_true", help="it is no error when a topic is not there"
    )
    _add_common_options(parser)


def _add_config_option(parser: argparse.ArgumentParser, summary: str) -> None:
    parser.add_argument(
        "-c",
        "--config",
        action="append",
        type=_setting,
        default=[],
        metavar="KEY=VALUE",
        help=summary,
    )


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    add_format_option(parser)
    add_cluster_options(parser)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return name, value
