"""Tables for people: columns as wide as they need to be."""

import sys
from collections.abc import Sequence


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, figures to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        first = line[0].ljust(widths[0])
        rest = "  ".join(
            cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)
        )
        sys.stdout.write(f"{first}  {rest}\n")
