"""Which cluster a command asks: the flag's, else the environment's, else the one right here."""

import argparse

import pytest

from kwire.cli.cluster import VARIABLE, add_cluster_options
from kwire.cli.main import main
from kwire.peers.connection import Address

Captured = pytest.CaptureFixture[str]


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_cluster_options(parser)
    return parser.parse_args(words)


def test_the_default_is_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert parsed().bootstrap_server == [Address("localhost", 9092)]


def test_the_environment_names_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "kafka-1:19092,kafka-2")
    assert parsed().bootstrap_server == [Address("kafka-1", 19092), Address("kafka-2", 9092)]


def test_the_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "elsewhere:1")
    assert parsed("-b", "here:2").bootstrap_server == [Address("here", 2)]


@pytest.mark.parametrize("words", [["-b", "host:port"], ["-b", ""], ["--timeout", "0"]])
def test_what_is_no_address_or_no_time_is_wrong_usage(capsys: Captured, words: list[str]) -> None:
    assert main(["topic", "list", *words]) == 2
    assert "error: argument" in capsys.readouterr().err


def test_a_cluster_that_is_not_there_is_told_in_one_line(capsys: Captured) -> None:
    assert main(["topic", "list", "-b", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().err == (
        "kwire topic: no broker at 127.0.0.1:1: connection refused\n"
    )
