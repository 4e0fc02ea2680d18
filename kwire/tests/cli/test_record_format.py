"""Formats say what of a record is printed, and how."""

import json

import pytest

from kwire.cli.record_format import json_format, text_format
from kwire.codec.records.record import Record
from kwire.peers.reader import Fetched

FETCHED = Fetched(
    3,
    [
        Record(7, 1000, b"k", b"value", (("a", b"1"), ("b", None))),
        Record(8, 1001, None, None),
        Record(9, 1002, b"", b"\xff\n", (("c", b""),)),
    ],
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (b"%s\n", b"value\n\n\xff\n\n"),
        (b"%t-%p:%o@%T|", b"orders-3:7@1000|orders-3:8@1001|orders-3:9@1002|"),
        (b"%k=%s;", b"k=value;=;=\xff\n;"),
        (b"%K,%S ", b"1,5 -1,-1 0,2 "),
        (b"%R%s", b"\0\0\0\x05value\xff\xff\xff\xff\0\0\0\x02\xff\n"),
        (b"%h;", b"a=1,b=NULL;;c=;"),
        (b"100%%", b"100%100%100%"),
        (b"x", b"xxx"),
        (b"", b""),
    ],
)
def test_each_record_is_printed_as_the_template_says(template: bytes, expected: bytes) -> None:
    assert text_format(template, "orders")(FETCHED) == expected


def test_null_can_be_told_from_empty() -> None:
    render = text_format(b"%k:%s;", "orders", null=b"NULL")
    assert render(FETCHED) == b"k:value;NULL:NULL;:\xff\n;"


@pytest.mark.parametrize("template", [b"%x", b"50%", b"% s"])
def test_a_template_that_asks_for_nothing_known_is_refused(template: bytes) -> None:
    with pytest.raises(ValueError, match="is not a part of a format"):
        text_format(template, "orders")


def test_json_is_a_line_a_record() -> None:
    lines = json_format("orders")(FETCHED).decode().splitlines()
    assert [json.loads(line)["offset"] for line in lines] == [7, 8, 9]
    assert json.loads(lines[2])["value"] == {"base64": "/wo="}


def test_a_batch_without_records_prints_nothing() -> None:
    assert text_format(b"%s\n", "orders")(Fetched(0, [])) == b""
    assert json_format("orders")(Fetched(0, [])) == b""
