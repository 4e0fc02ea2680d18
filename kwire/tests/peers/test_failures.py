"""Refusals say what was refused, why, and under which code."""

import pytest

from kwire.errors import ErrorCode
from kwire.peers.failures import Refused, check


def test_a_refusal_tells_the_brokers_words_and_the_name_of_the_code() -> None:
    refusal = Refused(ErrorCode.INVALID_CONFIG, "Unknown topic config name: x.", what="topic a")
    assert str(refusal) == "topic a: Unknown topic config name: x (INVALID_CONFIG)"


def test_a_code_that_is_not_known_here_is_told_by_its_number() -> None:
    assert str(Refused(9999, what="topic a")) == "topic a: error 9999"


def test_only_an_error_is_raised() -> None:
    check(ErrorCode.NONE, what="nothing")
    with pytest.raises(Refused, match="topic a: POLICY_VIOLATION"):
        check(ErrorCode.POLICY_VIOLATION, what="topic a")
