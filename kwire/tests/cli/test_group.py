"""`kwire group` against a real broker: its words, and what they do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.app import App
from kwire.cli.main import main
from kwire.codec.apis import CONSUMER_GROUP_HEARTBEAT
from kwire.codec.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kwire.peers.client import Client
from kwire.peers.connection import Address
from kwire.peers.coordinators import ask_coordinator

Captured = pytest.CaptureFixture[str]
Run = Callable[..., Any]


@pytest.fixture
def run(real_broker: App, capsys: Captured) -> Run:
    """Run a command that must succeed, and return the JSON it prints."""

    def run(words: str) -> Any:
        code = main([*words.split(), "--format", "json"])
        told = capsys.readouterr()
        assert code == 0, told.err
        return json.loads(told.out)

    return run


@pytest.fixture
def billing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A group that has read five of ten records, in one of two partitions."""
    run("topic create orders -p 2")
    lines = tmp_path / "lines"
    lines.write_text("".join(f"record {number}\n" for number in range(10)))
    with lines.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(["produce", "orders", "-p", "0", "-q"]) == 0
    run("group seek billing --topic orders:0 --to 5 --execute")
    return run


def _offsets(run: Run) -> dict[int, int | None]:
    (described,) = run("group describe billing")
    return {each["partition"]: each["committed_offset"] for each in described["partitions"]}


def test_a_cluster_without_groups_lists_none(run: Run) -> None:
    assert run("group list") == []


def test_groups_are_listed(billing: Run) -> None:
    assert billing("group list") == [
        {"group": "billing", "state": "Empty", "type": "classic", "protocol_type": ""}
    ]
    assert billing("group list --state Stable") == []
    assert len(billing("group list --state Stable --state Empty")) == 1


def test_a_group_is_described_with_its_lag(billing: Run) -> None:
    (described,) = billing("group describe billing")
    assert (described["state"], described["lag"], described["members"]) == ("Empty", 5, [])
    assert described["partitions"] == [
        {
            "topic": "orders",
            "partition": 0,
            "committed_offset": 5,
            "metadata": "",
            "latest_offset": 10,
            "lag": 5,
            "member": None,
        }
    ]


def test_a_group_of_the_new_protocol_is_described(billing: Run, real_broker: App) -> None:
    endpoint = real_broker.endpoints[0]
    joins = ConsumerGroupHeartbeatRequest(
        group_id="modern",
        member_id="m",
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    with Client([Address(endpoint.host, endpoint.port)]) as client:
        ask_coordinator(
            client, "modern", CONSUMER_GROUP_HEARTBEAT, joins, lambda told: told.error_code
        )
    (described,) = billing("group describe modern")
    assert (described["state"], described["protocol"]) == ("Stable", "uniform")
    assert [one["member"] for one in described["members"]] == ["m"]
    assert [(one["partition"], one["member"]) for one in described["partitions"]] == [
        (0, "m"),
        (1, "m"),
    ]


def test_people_are_shown_a_table(billing: Run, capsys: Captured) -> None:
    assert main(["group", "describe", "billing"]) == 0
    assert capsys.readouterr().out == (
        "Group:     billing\n"
        "State:     Empty\n"
        "Protocol:  -\n"
        "Members:   0\n"
        "Lag:       5\n"
        "\n"
        "TOPIC   PARTITION  COMMITTED  END  LAG  MEMBER  HOST\n"
        "orders          0          5   10    5  -       -\n"
    )


def test_a_group_that_is_not_there_is_an_error(billing: Run, capsys: Captured) -> None:
    assert main(["group", "describe", "missing", "billing"]) == 1
    told = capsys.readouterr()
    assert told.err == "kwire group: group missing: there is no such group\n"
    assert "Group:     billing" in told.out


def test_seeking_changes_nothing_unless_it_is_asked_for(billing: Run, capsys: Captured) -> None:
    assert main(["group", "seek", "billing", "--to", "beginning"]) == 0
    told = capsys.readouterr()
    assert told.out == "TOPIC   PARTITION  COMMITTED  NEW\norders          0          5    0\n"
    assert told.err == "kwire group: nothing was changed; --execute does it\n"
    assert _offsets(billing) == {0: 5}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("--to beginning", 0),
        ("--to end", 10),
        ("--to 7", 7),
        ("--to 70", 10),
        ("--to=-3", 7),
        ("--to @0", 0),
        ("--to @99999999999999", 10),
        ("--shift-by 2", 7),
        ("--shift-by -2", 3),
        ("--shift-by -20", 0),
        ("--shift-by 20", 10),
    ],
)
def test_a_group_goes_on_where_it_is_told(billing: Run, where: str, expected: int) -> None:
    (move,) = billing(f"group seek billing {where} --execute")
    assert move == {"topic": "orders", "partition": 0, "committed": 5, "new": expected}
    assert _offsets(billing) == {0: expected}


def test_a_whole_topic_can_be_meant(billing: Run) -> None:
    billing("group seek billing --topic orders --to 3 --execute")
    assert _offsets(billing) == {0: 3, 1: 0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--topic nowhere --to end", "topic nowhere: there is no such topic"),
        ("--topic orders:9 --to end", "topic orders has no partition 9"),
        ("--topic orders --shift-by 1", "nothing is committed that could be shifted"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    billing: Run, capsys: Captured, words: str, sentence: str
) -> None:
    assert main(["group", "seek", "billing", *words.split(), "--execute"]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "group seek g",
        "group seek g --to end --shift-by 1",
        "group seek g --to nonsense",
        "group seek g --topic t:x --to end",
        "group delete",
    ],
)
def test_what_makes_no_sense_is_wrong_usage(words: str) -> None:
    assert main(words.split()) == 2


def test_groups_are_deleted(billing: Run, capsys: Captured) -> None:
    assert main(["group", "delete", "billing", "missing"]) == 1
    told = capsys.readouterr()
    assert told.out == "deleted billing\n"
    assert told.err == ("kwire group: group missing: there is no such group (GROUP_ID_NOT_FOUND)\n")
    assert billing("group delete billing --if-exists") == [
        {"group": "billing", "result": "missing", "error": None}
    ]


def test_what_was_committed_for_a_topic_goes_with_it(billing: Run) -> None:
    billing("topic delete orders")
    assert _offsets(billing) == {}
