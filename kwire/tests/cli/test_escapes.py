"""Escapes on the command line mean what kcat's mean."""

import argparse

import pytest

from kwire.cli.escapes import delimiter, unescaped


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (r"a\nb", b"a\nb"),
        (r"\t\r\0\\", b"\t\r\0\\"),
        (r"\x41\xff", b"A\xff"),
        (r"\\n", b"\\n"),
        ("ü", "ü".encode()),
        ("", b""),
    ],
)
def test_escapes_become_the_bytes_meant(typed: str, meant: bytes) -> None:
    assert unescaped(typed) == meant


@pytest.mark.parametrize("typed", [r"\q", "a\\", r"\x4"])
def test_an_escape_that_means_nothing_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="is not an escape"):
        unescaped(typed)


@pytest.mark.parametrize("typed", ["", r"\q"])
def test_what_cannot_delimit_is_wrong_usage(typed: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        delimiter(typed)
