"""Java's file of properties."""

from kwire.config.properties import parse_properties


def test_the_three_separators_and_both_comments() -> None:
    content = "# one\n! two\n\na=1\n b : 2\nc 3\nd\ne = x = y \n"
    assert parse_properties(content) == {"a": "1", "b": "2", "c": "3", "d": "", "e": "x = y "}


def test_a_backslash_joins_lines_and_a_comment_sign_in_the_middle_is_text() -> None:
    assert parse_properties("a=1,\\\n   #2,\\\r\n 3\nb=4\\\\\nc=5") == {
        "a": "1,#2,3",
        "b": "4\\",
        "c": "5",
    }


def test_escapes() -> None:
    assert parse_properties(r"a\=b=tab\there \u00e9 \q" + "\nlast=\\") == {
        "a=b": "tab\there é q",
        "last": "",
    }


def test_the_last_of_a_repeated_property_counts() -> None:
    assert parse_properties("a=1\na=2") == {"a": "2"}
