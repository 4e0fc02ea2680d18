"""Regular expressions over topic names, as RE2 takes them: matched in linear time.

A client's expression runs in the loop that serves everybody, so it must not be able to run for
long. Python's own matcher tries alternatives one after the other, which may take for ever; here all
of them are followed at once (Thompson's construction). What cannot be matched so, back references
and looking around, RE2 refuses too. Python's parser reads the expression.
"""

import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import I as IGNORECASE
from re import _constants as op  # type: ignore[attr-defined]  # not in the stubs
from re import _parser as parser  # type: ignore[attr-defined]  # not in the stubs
from re import error as ReError
from typing import Any, NamedTuple, TypeAlias

from kwire.errors import InvalidRegularExpression

MAX_STATES = 5000
MAX_REPEAT = 1000
"""Counted repeats are written out; these bound what an expression may grow to."""

_Test: TypeAlias = Callable[[str], bool]


class _State(NamedTuple):
    """Goes on to `next` without a character, or with one that passes the test."""

    test: _Test | None
    next: list[int]
    is_at: Any = None
    """Where in the text it must be to go on, if that matters."""


class TopicPattern:
    """An expression that a whole topic name must match."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._states: list[_State] = []
        self._known: dict[str, bool] = {}
        try:
            parsed = _parse(text)
            self._flags = parsed.state.flags
            self._accepts = self._add(None, [])
            self._start = self._sequence(parsed, self._accepts)
        except (ReError, RecursionError, OverflowError, Warning) as error:
            raise _invalid(text, str(error)) from error

    def among(self, names: Iterable[str]) -> frozenset[str]:
        """The names that match; each name is looked at once in the life of a pattern."""
        known = self._known
        self._known = {name: known[name] if name in known else self.matches(name) for name in names}
        return frozenset(name for name, does_match in self._known.items() if does_match)

    def matches(self, name: str) -> bool:
        states = self._closure([self._start], name, 0)
        for position, character in enumerate(name):
            following = [
                state.next[0]
                for state in map(self._states.__getitem__, states)
                if state.test is not None and state.test(character)
            ]
            states = self._closure(following, name, position + 1)
        return self._accepts in states

    def _closure(self, states: Iterable[int], name: str, position: int) -> set[int]:
        """All states that can be reached from here without another character."""
        found: set[int] = set()
        left = list(states)
        while left:
            index = left.pop()
            if index in found:
                continue
            found.add(index)
            state = self._states[index]
            if state.test is None and _is_at(state.is_at, name, position):
                left += state.next
        return found

    def _add(self, test: _Test | None, following: list[int], is_at: Any = None) -> int:
        if len(self._states) >= MAX_STATES:
            raise _invalid(self._text, "it is too large")
        self._states.append(_State(test, following, is_at))
        return len(self._states) - 1

    def _sequence(self, items: Any, end: int) -> int:
        for code, argument in reversed(list(items)):
            end = self._item(code, argument, end)
        return end

    def _item(self, code: Any, argument: Any, end: int) -> int:
        """The state to start from, for one part of an expression that leads to `end`."""
        if code in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return self._add(_test(code, argument, bool(self._flags & IGNORECASE)), [end])
        if code is op.BRANCH:
            return self._add(None, [self._sequence(one, end) for one in argument[1]])
        if code is op.SUBPATTERN:
            _, added, removed, items = argument
            kept, self._flags = self._flags, (self._flags | added) & ~removed
            start = self._sequence(items, end)
            self._flags = kept
            return start
        if code in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, items = argument
            return self._repeat(least, most, items, end)
        if code is op.AT and argument in _PLACES:
            return self._add(None, [end], argument)
        raise _invalid(self._text, f"{str(code).lower()} is not supported")

    def _repeat(self, least: int, most: Any, items: Any, end: int) -> int:
        if max(least, 0 if most is op.MAXREPEAT else most) > MAX_REPEAT:
            raise _invalid(self._text, f"more than {MAX_REPEAT} repeats")
        if most is op.MAXREPEAT:
            loop = self._add(None, [end])
            self._states[loop].next.append(self._sequence(items, loop))
            end = loop
        else:
            last = end
            for _ in range(most - least):
                end = self._add(None, [last, self._sequence(items, end)])
        for _ in range(least):
            # A state of its own, so that repeats of nothing are counted too.
            end = self._add(None, [self._sequence(items, end)])
        return end


@lru_cache(maxsize=256)
def pattern(text: str) -> TopicPattern:
    """The pattern of an expression; `InvalidRegularExpression` if it is none."""
    return TopicPattern(text)


def _parse(text: str) -> Any:
    with warnings.catch_warnings():
        # Python warns of what it may read otherwise one day; RE2 does so today.
        warnings.simplefilter("error")
        return parser.parse(text)


def _invalid(text: str, why: str) -> InvalidRegularExpression:
    return InvalidRegularExpression(
        f"SubscribedTopicRegex `{text}` is not a valid regular expression: {why}."
    )


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


_PLACES: dict[Any, Callable[[str, int], bool]] = {
    op.AT_BEGINNING: lambda _, position: position == 0,
    op.AT_BEGINNING_STRING: lambda _, position: position == 0,
    op.AT_END: lambda name, position: position == len(name),
    op.AT_END_STRING: lambda name, position: position == len(name),
    op.AT_BOUNDARY: lambda name, position: _is_boundary(name, position),
    op.AT_NON_BOUNDARY: lambda name, position: not _is_boundary(name, position),
}


def _is_boundary(name: str, position: int) -> bool:
    before, after = name[:position][-1:], name[position : position + 1]
    return _is_word(before) != _is_word(after)


def _is_at(place: Any, name: str, position: int) -> bool:
    return place is None or _PLACES[place](name, position)


_CATEGORIES: dict[Any, _Test] = {
    op.CATEGORY_DIGIT: lambda one: "0" <= one <= "9",
    op.CATEGORY_NOT_DIGIT: lambda one: not "0" <= one <= "9",
    op.CATEGORY_SPACE: lambda one: one in " \t\n\r\f\v",
    op.CATEGORY_NOT_SPACE: lambda one: one not in " \t\n\r\f\v",
    op.CATEGORY_WORD: _is_word,
    op.CATEGORY_NOT_WORD: lambda one: not _is_word(one),
}


def _test(code: Any, argument: Any, ignores_case: bool) -> _Test:
    """Whether a character passes; topic names are ASCII, so case is simple."""
    passes = _members(argument) if code is op.IN else _one(code, argument)
    is_negated = code is op.NOT_LITERAL or (code is op.IN and argument[0][0] is op.NEGATE)

    def test(one: str) -> bool:
        return (passes(one) or (ignores_case and passes(one.swapcase()))) != is_negated

    return test


def _members(argument: Any) -> _Test:
    tests = [_one(code, value) for code, value in argument if code is not op.NEGATE]
    return lambda one: any(test(one) for test in tests)


def _one(code: Any, argument: Any) -> _Test:
    if code is op.ANY:
        return lambda one: one != "\n"
    if code is op.RANGE:
        first, last = map(chr, argument)
        return lambda one: first <= one <= last
    if code is op.CATEGORY:
        return _CATEGORIES[argument]
    literal = chr(argument)
    return lambda one: one == literal
