"""What is typed is checked before anything is done with it."""

import argparse

import pytest

from kwire.cli.arguments import count


def test_a_count_is_a_number_above_0() -> None:
    assert count("12") == 12


@pytest.mark.parametrize("text", ["0", "-1", "", "many", "1.5", " 1"])
def test_what_counts_nothing_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number above 0"):
        count(text)
