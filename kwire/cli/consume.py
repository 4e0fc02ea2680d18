"""`kwire consume`: prints the records of a topic, those that are there and those that come."""

import argparse
import select
import sys
from collections.abc import Iterator
from itertools import chain

from kwire.cli.arguments import count
from kwire.cli.cluster import add_cluster_options, connect
from kwire.cli.escapes import delimiter, unescaped
from kwire.cli.failures import CommandFailed, WrongUsage
from kwire.cli.output import JSON, TEXT
from kwire.cli.record_format import Render, json_format, text_format
from kwire.cli.start import Start, parse_start
from kwire.peers.client import TopicView
from kwire.peers.reader import Fetched, Reader

_WAIT_MS = 500

_EXAMPLES = r"""examples:
  kwire consume orders                          # everything, then what comes
  kwire consume orders -o end                   # only what comes
  kwire consume orders -o -10 -e                # the last 10 of each partition
  kwire consume orders -o @1700000000000 -c 5   # 5 records from that time on
  kwire consume orders -f '%p:%o %T %k=%s\n'
  kwire consume orders --format json -e | jq .value
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print the records of a topic, and go on with those that come."
    parser.epilog = _EXAMPLES
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "-o",
        "--offset",
        type=parse_start,
        default=parse_start("beginning"),
        metavar="WHERE",
        help="where to start: beginning, end, an offset, -N for the last N of each partition,"
        " @MS for a time in milliseconds (default: beginning)",
    )
    parser.add_argument(
        "-p",
        "--partition",
        action="append",
        type=_partitions,
        metavar="N[,N...]",
        help="only these partitions (default: all)",
    )
    parser.add_argument("-c", "--count", type=count, metavar="N", help="stop after N records")
    parser.add_argument(
        "-e", "--exit", action="store_true", help="stop at the end, do not wait for more"
    )
    parser.add_argument(
        "--uncommitted",
        action="store_true",
        help="show records of open and aborted transactions too",
    )
    _add_format_options(parser)
    add_cluster_options(parser)


def _add_format_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=(TEXT, JSON),
        default=TEXT,
        help="text as -f says, or a JSON object a line (default: text)",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "-f",
        "--template",
        metavar="TEMPLATE",
        help=r"how to print a record: %%s value, %%S its length, %%k key, %%K its length,"
        r" %%h headers, %%t topic, %%p partition, %%o offset, %%T timestamp, \n \t \xNN"
        r" (default: '%%s\n')",
    )
    shape.add_argument(
        "-K",
        "--key-delimiter",
        type=delimiter,
        metavar="DELIM",
        help="print the key and this before each value",
    )
    parser.add_argument(
        "-Z", "--null", action="store_true", help="print null as NULL, not as nothing"
    )


def run(arguments: argparse.Namespace) -> int:
    render = _render(arguments)
    with connect(arguments) as client:
        topic = client.topic(arguments.topic)
        partitions = _chosen(arguments, topic)
        committed = not arguments.uncommitted
        start: Start = arguments.offset
        reader = Reader(
            client,
            topic,
            start.offsets(client, topic, partitions, committed=committed),
            committed=committed,
            wait_ms=0 if arguments.exit else _WAIT_MS,
        )
        _print(_limited(_each(reader, stop_at_end=arguments.exit), arguments.count), render)
    return 0


def _render(arguments: argparse.Namespace) -> Render:
    if arguments.format == JSON:
        if arguments.template is not None or arguments.key_delimiter is not None:
            raise WrongUsage("--format json has a form of its own; leave out -f and -K")
        return json_format(arguments.topic)
    null = b"NULL" if arguments.null else b""
    try:
        return text_format(_template(arguments), arguments.topic, null=null)
    except ValueError as wrong:
        raise WrongUsage(f"-f: {wrong}") from None


def _template(arguments: argparse.Namespace) -> bytes:
    if arguments.key_delimiter is not None:
        between: bytes = arguments.key_delimiter.replace(b"%", b"%%")
        return b"%k" + between + b"%s\n"
    return b"%s\n" if arguments.template is None else unescaped(arguments.template)


def _chosen(arguments: argparse.Namespace, topic: TopicView) -> list[int]:
    if arguments.partition is None:
        return sorted(topic.leaders)
    chosen = sorted(set(chain.from_iterable(arguments.partition)))
    for partition in chosen:
        if partition not in topic.leaders:
            raise CommandFailed(f"topic {topic.name} has no partition {partition}")
    return chosen


def _each(reader: Reader, *, stop_at_end: bool) -> Iterator[Fetched | None]:
    """All batches, and a None whenever all that has come is handed out."""
    while not (stop_at_end and reader.is_at_end()):
        yield from reader.poll()
        yield None


def _limited(batches: Iterator[Fetched | None], count: int | None) -> Iterator[Fetched | None]:
    """The same, up to a number of records."""
    if count is None:
        yield from batches
        return
    for fetched in batches:
        if fetched is None:
            yield None
            continue
        yield Fetched(fetched.partition, fetched.records[:count])
        count -= len(fetched.records)
        if count <= 0:
            return


def _print(batches: Iterator[Fetched | None], render: Render) -> None:
    """Write what comes; it is handed on at once when there is nothing more to read right now."""
    output = sys.stdout.buffer
    for fetched in batches:
        if fetched is not None:
            output.write(render(fetched))
            continue
        output.flush()
        if _reader_left(output.fileno()):
            raise BrokenPipeError
    output.flush()


def _reader_left(descriptor: int) -> bool:
    """Whether nobody will ever read what we write: while no record comes, no write would tell."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _partitions(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of partitions")
    return list(map(int, parts))
