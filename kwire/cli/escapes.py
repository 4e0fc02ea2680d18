r"""Escapes in what is typed: `\n`, `\t`, `\r`, `\0`, `\\` and `\xNN`, as kcat reads them."""

import argparse
import re

_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)?", re.DOTALL)
_MEANINGS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}


def unescaped(text: str) -> bytes:
    """The bytes meant; raises ValueError for an escape that means nothing."""
    return _ESCAPE.sub(_meaning, text.encode("utf-8", "surrogateescape"))


def delimiter(text: str) -> bytes:
    """A delimiter from the command line, for argparse."""
    try:
        meant = unescaped(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
    if not meant:
        raise argparse.ArgumentTypeError("a delimiter cannot be empty")
    return meant


def _meaning(found: re.Match[bytes]) -> bytes:
    code: bytes = found[1] or b""
    if len(code) == 3:
        return bytes.fromhex(code[1:].decode())
    if code not in _MEANINGS:
        raise ValueError(f"{found[0].decode(errors='replace')!r} is not an escape")
    return _MEANINGS[code]
