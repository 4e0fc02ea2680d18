"""`kwire produce`: what comes on standard input goes to a topic, a line a record."""

import argparse
import os
import sys
import time
from collections.abc import Callable

from kwire.cli.batches import Batches
from kwire.cli.cluster import add_cluster_options, connect
from kwire.cli.escapes import delimiter
from kwire.cli.failures import CommandFailed
from kwire.cli.input_lines import each_piece
from kwire.cli.output import JSON, TEXT
from kwire.cli.record_json import Absent, from_json
from kwire.codec.records.compression import Codec
from kwire.peers.writer import ALL_REPLICAS, LEADER_ONLY, NO_ANSWER, Writer

_ACKS = {"all": ALL_REPLICAS, "-1": ALL_REPLICAS, "1": LEADER_ONLY, "0": NO_ANSWER}
_CODECS = {codec.name.lower(): codec for codec in Codec}

_EXAMPLES = """\
examples:
  echo hello | kwire produce greetings
  kwire produce orders -K: < orders.txt            # lines of key:value
  echo | kwire produce users -k alice -Z           # a tombstone for alice
  kwire consume a --format json -e | kwire produce b --format json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write records from standard input to a topic, a line each, until the input ends."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "--format",
        choices=(TEXT, JSON),
        default=TEXT,
        help="a line is a value, or a JSON object as `kwire consume` prints them (default: text)",
    )
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("-k", "--key", type=os.fsencode, help="the key of every record")
    keys.add_argument(
        "-K",
        "--key-delimiter",
        type=delimiter,
        metavar="DELIM",
        help="a line is key, delimiter, value; a line without the delimiter has no key",
    )
    parser.add_argument(
        "-D",
        "--delimiter",
        type=delimiter,
        default=b"\n",
        metavar="DELIM",
        help=r"what ends a record (default: \n); \t, \0 and \xNN are understood",
    )
    parser.add_argument(
        "-H",
        "--header",
        action="append",
        type=_header,
        default=[],
        metavar="NAME=VALUE",
        help="a header of every record; without `=` its value is null; may be given several times",
    )
    parser.add_argument(
        "-Z", "--null", action="store_true", help="an empty value or key is null, not empty"
    )
    parser.add_argument(
        "-p", "--partition", type=int, metavar="N", help="default: by key, or spread evenly"
    )
    parser.add_argument(
        "-z", "--compression", choices=_CODECS, default="none", help="default: none"
    )
    parser.add_argument(
        "--acks",
        choices=_ACKS,
        default="all",
        help="who must have a record: all in-sync replicas, the leader (1), nobody (0); "
        "with all, a batch that has to be sent again is stored once (default: all)",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="do not tell at the end what went where"
    )
    add_cluster_options(parser)


def run(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        writer = Writer(
            client,
            arguments.topic,
            acks=_ACKS[arguments.acks],
            codec=_CODECS[arguments.compression],
        )
        batches = Batches(writer, first_partition=int.from_bytes(os.urandom(4), "big"))
        try:
            _produce(arguments, batches)
        finally:
            if not arguments.quiet:
                _tell(arguments.topic, batches)
    return 0


def _produce(arguments: argparse.Namespace, batches: Batches) -> None:
    read = _json_reader(arguments) if arguments.format == JSON else _text_reader(arguments)
    number = 0
    for piece in each_piece(sys.stdin.fileno(), arguments.delimiter):
        now_ms = time.time_ns() // 1_000_000
        for line in piece.lines:
            number += 1
            try:
                read(batches, line, now_ms)
            except ValueError as wrong:
                batches.flush()
                raise CommandFailed(f"line {number}: {wrong}") from None
        if piece.is_followed_by_pause:
            batches.flush()
    batches.flush()


_Reader = Callable[[Batches, bytes, int], None]


def _text_reader(arguments: argparse.Namespace) -> _Reader:
    headers, partition = tuple(arguments.header), arguments.partition
    fixed_key, key_delimiter = arguments.key, arguments.key_delimiter
    empty_is_null = arguments.null

    def read(batches: Batches, line: bytes, now_ms: int) -> None:
        key, value = fixed_key, line
        if key_delimiter is not None:
            before, found, after = line.partition(key_delimiter)
            if found:
                key, value = before, after
        if empty_is_null:
            batches.add(key or None, value or None, headers, now_ms, partition)
        else:
            batches.add(key, value, headers, now_ms, partition)

    return read


def _json_reader(arguments: argparse.Namespace) -> _Reader:
    """What a line does not say, the flags say."""

    def read(batches: Batches, text: bytes, now_ms: int) -> None:
        if not text.strip():
            return
        line = from_json(text)
        batches.add(
            arguments.key if isinstance(line.key, Absent) else line.key,
            line.value,
            tuple(arguments.header) if isinstance(line.headers, Absent) else line.headers,
            now_ms if line.timestamp is None else line.timestamp,
            arguments.partition if line.partition is None else line.partition,
        )

    return read


def _tell(topic: str, batches: Batches) -> None:
    for partition, count in sorted(batches.counts.items()):
        records = "1 record" if count == 1 else f"{count} records"
        offset = batches.first_offsets[partition]
        place = "" if offset is None else f" from offset {offset}"
        print(f"{records} to {topic}-{partition}{place}", file=sys.stderr)


def _header(text: str) -> tuple[str, bytes | None]:
    name, equals, value = text.partition("=")
    if not name or not name.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name, os.fsencode(value) if equals else None
