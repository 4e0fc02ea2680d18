"""How commands show what they found: aligned tables for people, JSON for programs."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

TEXT = "text"
JSON = "json"

Cell = str | int | None
"""None is something that is not known, shown as a dash."""


def add_format_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=(TEXT, JSON),
        default=TEXT,
        help="text for people, or one JSON document for programs (default: text)",
    )


def table(titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Columns as wide as their widest cell; numbers end where their title ends."""
    columns = list(zip(titles, *rows, strict=True))
    shown = [_column(list(column)) for column in columns]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*shown, strict=True))


def _column(cells: list[Cell]) -> list[str]:
    texts = ["-" if cell is None else str(cell) for cell in cells]
    width = max(map(len, texts))
    is_numeric = any(isinstance(cell, int) for cell in cells[1:])
    return [text.rjust(width) if is_numeric else text.ljust(width) for text in texts]


def json_text(document: Any) -> str:
    """A document over several lines, readable and stable."""
    return json.dumps(document, indent=2, ensure_ascii=False)
