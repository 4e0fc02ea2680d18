"""Records survive the way through JSON, and lines that make no sense are told why."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.cli.record_json import ABSENT, from_json, to_json
from kwire.codec.records.record import Record

BYTES = st.none() | st.binary() | st.text().map(str.encode)


@given(BYTES, BYTES, st.lists(st.tuples(st.text(), BYTES)), st.integers(0, 2**62))
def test_any_record_comes_back_as_it_was(
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
    timestamp: int,
) -> None:
    record = Record(7, timestamp, key, value, tuple(headers))
    line = from_json(to_json("orders", 3, record).encode())
    assert line == (key, value, tuple(headers), 3, timestamp)


def test_text_is_shown_as_text_and_bytes_as_base64() -> None:
    shown = json.loads(to_json("orders", 0, Record(1, 2, "ü".encode(), b"\xff", (("h", None),))))
    assert shown["key"] == "ü"
    assert shown["value"] == {"base64": "/w=="}
    assert shown["headers"] == [{"key": "h", "value": None}]


def test_what_is_not_said_is_absent() -> None:
    assert from_json(b"{}") == (ABSENT, None, ABSENT, None, None)
    assert from_json(b'{"key": null}').key is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"vaule": "x"}', "unknown field 'vaule'"),
        (b'{"value": 5}', "'value' is neither text nor null"),
        (b'{"value": {"base64": "?"}}', "'value' is not base64"),
        (b'{"key": {"base64": "", "more": 1}}', "'key' is neither"),
        (b'{"headers": {"a": "b"}}', "'headers' is not a list"),
        (b'{"headers": [["a", "b"]]}', "'headers' is not a list"),
        (b'{"partition": "0"}', "'partition' is not a number"),
        (b'{"partition": true}', "'partition' is not a number"),
        (b'{"timestamp": -1}', "'timestamp' is not a number"),
        (b'{"value": "\\ud800"}', "surrogates"),
        (b'{"headers": [{"key": "\\ud800"}]}', "surrogates"),
    ],
)
def test_a_line_that_makes_no_sense_is_told_why(line: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_json(line)
