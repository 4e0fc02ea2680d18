"""Tables line up, whatever is in them."""

from kwire.cli.output import json_text, table


def test_words_start_and_numbers_end_at_the_same_column() -> None:
    rows = [("a", 5, "x"), ("longer", 12345, "y")]
    assert table(("NAME", "N", "END"), rows).splitlines() == [
        "NAME        N  END",
        "a           5  x",
        "longer  12345  y",
    ]


def test_what_is_not_known_is_a_dash() -> None:
    assert table(("A", "B"), [(None, 1)]).splitlines() == ["A  B", "-  1"]


def test_a_table_without_rows_is_its_titles() -> None:
    assert table(("A", "B"), []) == "A  B"


def test_documents_keep_letters_as_they_are() -> None:
    assert json_text({"topic": "Grüße"}) == '{\n  "topic": "Grüße"\n}'
