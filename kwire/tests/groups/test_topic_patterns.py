"""Regular expressions over topic names: what they match, how long it takes, what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.errors import InvalidRegularExpression
from kwire.groups.topic_patterns import MAX_REPEAT, TopicPattern, pattern

NAMES = ["", "a", "aa", "ab", "aab", "abc", "foo", "FOO-12", "foo.bar", "foo-1", "a_1", "b", "-"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "foo.*",
        "(?i)foo-[0-9]+",
        "(?i:F)oo",
        "(a|b)*c",
        "a{1,2}b?",
        "a{2}",
        "a{2,}.*",
        "(aa|a)(b|bc)",
        "^foo$",
        r"\bfoo\b.*",
        r"fo\Bo.*",
        r"\Aa\Z",
        "[^a]+",
        "[a-c]+",
        r"[\w.]+",
        r"[^\d]+",
        r"\w+\W\d",
        r"\D+",
        r"\S+",
        r"a\sb",
        "foo|foo-.*|a_1",
        "(a+)+b",
        "(a*)*",
        "a*?b",
        "a+?",
        "(?P<name>a)b",
        r"foo\.bar",
        "(|a)b",
    ],
)
def test_a_pattern_matches_what_it_matches_elsewhere(text: str) -> None:
    matcher = TopicPattern(text)
    expected = {name for name in NAMES if re.fullmatch(text, name)}
    assert matcher.among(NAMES) == expected


_atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", "1", "^", "$"])
_expressions = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "*?"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(_expressions, st.text("ab1", max_size=6))
def test_any_pattern_matches_what_it_matches_elsewhere(text: str, name: str) -> None:
    assert TopicPattern(text).matches(name) == bool(re.fullmatch(text, name))


def test_a_pattern_that_keeps_others_busy_for_ever_is_matched_at_once() -> None:
    assert not TopicPattern("(a+)+b").matches("a" * 249)
    assert TopicPattern("(a|a)*(a|aa)*b").matches("a" * 248 + "b")


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "*",
        "a**",
        "(",
        r"\p{L}",
        "(?=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<x>a)(?P=x)",
        "(?>a)",
        "a++",
        "[[:alpha:]]",
        f"a{{{MAX_REPEAT + 1}}}",
        "((){1000}){1000}",
        "(((a{100}){100}){100}){100}",
        "(" * 5000 + ")" * 5000,
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidRegularExpression, match="is not a valid regular expression"):
        TopicPattern(text)


def test_names_that_are_gone_are_forgotten() -> None:
    matcher = TopicPattern("a.*")
    assert matcher.among(["a", "ab", "b"]) == {"a", "ab"}
    assert matcher.among(["ab", "ac"]) == {"ab", "ac"}
    assert matcher.among([]) == frozenset()


def test_a_pattern_is_made_once() -> None:
    assert pattern("made-once.*") is pattern("made-once.*")
