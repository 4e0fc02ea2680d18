"""Standard input becomes lines, however it is cut up on its way here."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kwire.cli import input_lines
from kwire.cli.failures import CommandFailed
from kwire.cli.input_lines import Piece, each_piece


@contextmanager
def a_pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)


def lines_of(data: bytes, delimiter: bytes = b"\n") -> list[bytes]:
    with a_pipe() as (reading, writing):
        os.write(writing, data)
        os.close(writing)
        return [line for piece in each_piece(reading, delimiter) for line in piece.lines]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"\n\n", [b"", b""]),
        (b"\0\xff\r\n", [b"\0\xff\r"]),
    ],
)
def test_lines_end_with_the_delimiter_or_the_input(data: bytes, expected: list[bytes]) -> None:
    assert lines_of(data) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_delimiter_may_be_cut_by_a_read(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(input_lines, "READ_BYTES", size)
    assert lines_of(b"one==two=three====", b"==") == [b"one", b"two=three", b""]


def test_a_line_is_handed_on_before_the_input_ends() -> None:
    with a_pipe() as (reading, writing):
        pieces = each_piece(reading)
        os.write(writing, b"first\nsec")
        assert next(pieces) == Piece([b"first"], True)
        os.write(writing, b"ond\n")
        os.close(writing)
        assert next(pieces) == Piece([b"second"], False)
        assert list(pieces) == []


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_lines, "LONGEST_LINE_BYTES", 10)
    with pytest.raises(CommandFailed, match="longer than 10 bytes"):
        lines_of(b"x" * 11)
