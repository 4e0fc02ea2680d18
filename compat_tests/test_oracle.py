"""The oracle itself works here: Apache Kafka starts, its tools and kcat reach it."""

import shutil

import pytest

from compat_tests.oracle import prepare, tools
from compat_tests.oracle.processes import BrokerProcess


def test_everything_that_is_missing_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert prepare.main() == 1
    told = capsys.readouterr().err
    assert "java 17 or newer, kcat" in told


@pytest.mark.jvm
def test_preparing_again_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare.main() == 0
    assert capsys.readouterr().out.startswith("tools: ready, with java ")


@pytest.mark.jvm
def test_kcat_and_kafkas_own_tools_see_the_same_records(
    kafka_broker: BrokerProcess, topic: str
) -> None:
    bootstrap = kafka_broker.bootstrap
    made = tools.run(tools.TOPICS, "--bootstrap-server", bootstrap, "--create", "--topic", topic)
    assert made.code == 0, made.err
    tools.kcat(bootstrap, "-P", "-t", topic, stdin=b"one\ntwo\n")
    offsets = tools.run(tools.GET_OFFSETS, "--bootstrap-server", bootstrap, "--topic", topic)
    assert offsets.lines == [f"{topic}:0:2"]
    assert tools.kcat(bootstrap, "-C", "-e", "-q", "-t", topic) == b"one\ntwo\n"
