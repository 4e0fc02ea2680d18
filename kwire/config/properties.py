"""Reading a `server.properties` file: Java's format, since such files exist already.

`key=value`, `key: value` or `key value`; lines that begin with `#` or `!` are comments; a line that
ends in a backslash goes on in the next; a backslash escapes t, n, r, f, uXXXX or the next
character.
"""

import re
from collections.abc import Iterator

_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(content: str) -> dict[str, str]:
    """Name and value of every property; of a repeated one the last value, as in Java."""
    found: dict[str, str] = {}
    for line in _logical_lines(content):
        matched = _KEY.match(line)
        assert matched is not None, "the pattern matches the empty string"
        found[_unescape(matched[1])] = _unescape(line[matched.end() :])
    return found


def _logical_lines(content: str) -> Iterator[str]:
    pending = ""
    for raw in re.split(r"\r\n|\r|\n", content):
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_replacement, text)


def _replacement(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _LETTERS.get(code, code)
