"""`kwire topic`, typed as users type it."""

import pytest

from kwire.cli.main import main
from kwire.tests.peers.fake_topics import FakeTopics

Captured = pytest.CaptureFixture[str]


def test_without_an_action_the_usage_is_shown(capsys: Captured) -> None:
    assert main(["topic"]) == 2
    assert "usage: kwire topic" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["list", "create", "describe", "alter", "delete"])
def test_every_action_explains_itself(capsys: Captured, action: str) -> None:
    assert main(["topic", action, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"usage: kwire topic {action}" in told
    assert "--bootstrap-server" in told
    assert "--format" in told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["create", "orders", "-p", "0"], "'0' is not a number above 0"),
        (["create", "orders", "-p", "many"], "'many' is not a number above 0"),
        (["create", "orders", "--config", "retention.ms"], "not of the form key=value"),
        (["create"], "TOPIC"),
        (["delete"], "TOPIC"),
        (["list", "--format", "yaml"], "invalid choice"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anybody_is_asked(
    capsys: Captured, words: list[str], complaint: str
) -> None:
    assert main(["topic", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_a_config_value_may_hold_equals_signs(broker: FakeTopics) -> None:
    assert main(["topic", "create", "orders", "--config", "a=b=c", "--config", "d="]) == 0
    assert broker.topics["orders"].configs == {"a": "b=c", "d": ""}
