r"""How `kwire consume` prints records: a format in kcat's words, or a line of JSON each.

    %s value    %S its length, -1 for null    %R that as 4 bytes, big-endian
    %k key      %K its length, -1 for null    %h headers as name=value,...
    %t topic    %p partition    %o offset     %T timestamp in ms    %% a percent sign

A format is turned into columns once; a whole batch is then printed column by column, which takes a
fraction of the time of printing record by record.
"""

import re
import struct
from collections.abc import Callable, Iterable
from itertools import chain, repeat

from kwire.cli.record_json import to_json
from kwire.peers.reader import Fetched

Render = Callable[[Fetched], bytes]
_Column = Callable[[Fetched], Iterable[bytes]]

_DIRECTIVE = re.compile(rb"(%.?)", re.DOTALL)
_pack_length = struct.Struct(">i").pack


def json_format(topic: str) -> Render:
    """A line of JSON a record."""

    def render(fetched: Fetched) -> bytes:
        lines = (to_json(topic, fetched.partition, record) for record in fetched.records)
        return "".join(line + "\n" for line in lines).encode("utf-8", "replace")

    return render


def text_format(template: bytes, topic: str, *, null: bytes = b"") -> Render:
    """What a template asks for; raises ValueError if it asks for what does not exist."""
    columns = _columns(topic.encode(), null)
    wanted: list[_Column] = []
    for part in filter(None, _DIRECTIVE.split(template)):
        if not part.startswith(b"%"):
            wanted.append(_literal(part))
        elif part[1:] in columns:
            wanted.append(columns[part[1:]])
        else:
            raise ValueError(f"{part.decode(errors='replace')!r} is not a part of a format")

    def render(fetched: Fetched) -> bytes:
        rows = zip(*(column(fetched) for column in wanted), strict=True)
        return b"".join(chain.from_iterable(rows))

    return render


def _literal(text: bytes) -> _Column:
    return lambda fetched: repeat(text, len(fetched.records))


def _columns(topic: bytes, null: bytes) -> dict[bytes, _Column]:
    def text(value: bytes | None) -> bytes:
        return null if value is None else value

    def header_text(headers: tuple[tuple[str, bytes | None], ...]) -> bytes:
        return b",".join(
            name.encode() + b"=" + (b"NULL" if value is None else value) for name, value in headers
        )

    return {
        b"%": _literal(b"%"),
        b"t": _literal(topic),
        b"p": lambda fetched: repeat(b"%d" % fetched.partition, len(fetched.records)),
        b"o": lambda fetched: [b"%d" % record.offset for record in fetched.records],
        b"T": lambda fetched: [b"%d" % record.timestamp for record in fetched.records],
        b"k": lambda fetched: [text(record.key) for record in fetched.records],
        b"K": lambda fetched: [b"%d" % _length(record.key) for record in fetched.records],
        b"s": lambda fetched: [text(record.value) for record in fetched.records],
        b"S": lambda fetched: [b"%d" % _length(record.value) for record in fetched.records],
        b"R": lambda fetched: [_pack_length(_length(record.value)) for record in fetched.records],
        b"h": lambda fetched: [header_text(record.headers) for record in fetched.records],
    }


def _length(value: bytes | None) -> int:
    return -1 if value is None else len(value)
