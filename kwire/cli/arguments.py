"""Values on the command line that argparse cannot check by itself."""

import argparse


def count(text: str) -> int:
    """A number above 0."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)
