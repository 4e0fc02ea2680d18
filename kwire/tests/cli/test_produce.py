"""`kwire produce`, fed through standard input as a shell would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.cli.main import main
from kwire.codec.apis import INIT_PRODUCER_ID, PRODUCE
from kwire.codec.messages.produce import (
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopicResponse,
)
from kwire.codec.records.batch import parse_header
from kwire.codec.records.compression import Codec
from kwire.errors import ErrorCode
from kwire.tests.peers.fake_topics import FakeTopics

Captured = pytest.CaptureFixture[str]
Produce = Callable[..., int]


@pytest.fixture
def produce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Produce:
    """Run the command with the given bytes on standard input."""

    def run(given: bytes, *words: str) -> int:
        path = tmp_path / "stdin"
        path.write_bytes(given)
        with path.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            return main(["produce", *words])

    return run


def pairs(broker: FakeTopics) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for record in broker.topics["t"].records()]


def test_each_line_is_a_record(broker: FakeTopics, produce: Produce, capsys: Captured) -> None:
    assert produce(b"one\ntwo\nthree", "t") == 0
    assert pairs(broker) == [(None, b"one"), (None, b"two"), (None, b"three")]
    assert capsys.readouterr().err == "3 records to t-0 from offset 0\n"


def test_quiet_says_nothing(broker: FakeTopics, produce: Produce, capsys: Captured) -> None:
    assert produce(b"one\n", "t", "-q") == 0
    assert capsys.readouterr() == ("", "")


def test_keys_are_cut_from_lines(broker: FakeTopics, produce: Produce) -> None:
    assert produce(b"a:1\nb:2:3\nnone\n:x\n", "t", "-K", ":") == 0
    assert pairs(broker) == [(b"a", b"1"), (b"b", b"2:3"), (None, b"none"), (b"", b"x")]


def test_key_headers_and_compression_are_the_same_for_every_record(
    broker: FakeTopics, produce: Produce
) -> None:
    words = ["t", "-k", "me", "-H", "a=b=c", "-H", "empty=", "-H", "null", "-z", "gzip"]
    assert produce(b"1\n2\n", *words) == 0
    assert pairs(broker) == [(b"me", b"1"), (b"me", b"2")]
    expected = (("a", b"b=c"), ("empty", b""), ("null", None))
    assert {record.headers for record in broker.topics["t"].records()} == {expected}
    assert parse_header(broker.topics["t"].batches[0][0]).codec == Codec.GZIP


def test_empty_lines_are_empty_values_or_nulls(broker: FakeTopics, produce: Produce) -> None:
    assert produce(b"\n", "t") == 0
    assert produce(b"\nk:\n", "t", "-Z", "-K:") == 0
    assert pairs(broker) == [(None, b""), (None, None), (b"k", None)]


def test_another_delimiter_lets_values_have_lines(broker: FakeTopics, produce: Produce) -> None:
    assert produce(b"a\nb\0c\0", "t", "-D", r"\0") == 0
    assert pairs(broker) == [(None, b"a\nb"), (None, b"c")]


def test_a_partition_may_be_chosen(broker: FakeTopics, produce: Produce, capsys: Captured) -> None:
    topic = broker.add("t", partitions=3)
    assert produce(b"x\n", "t", "-p", "2") == 0
    assert len(topic.records(2)) == 1
    assert produce(b"x\n", "t", "-p", "3") == 1
    assert (
        "kwire produce: line 1: there is no partition 3; the topic has 3 of them"
        in capsys.readouterr().err
    )


def test_json_lines_say_everything_themselves(broker: FakeTopics, produce: Produce) -> None:
    topic = broker.add("t", partitions=2)
    line = (
        b'{"topic": "old", "offset": 9, "partition": 1, "timestamp": 5, "key": "k",'
        b' "value": {"base64": "/w=="}, "headers": [{"key": "h", "value": "v"}]}\n\n'
    )
    assert produce(line, "t", "--format", "json") == 0
    (record,) = topic.records(1)
    assert record == (0, 5, b"k", b"\xff", (("h", b"v"),))


def test_what_json_does_not_say_the_flags_say(broker: FakeTopics, produce: Produce) -> None:
    words = ["t", "--format", "json", "-k", "me", "-H", "a=b"]
    assert produce(b'{"value": "v"}\n{"key": null, "headers": []}', *words) == 0
    first, second = broker.topics["t"].records()
    assert (first.key, first.value, first.headers) == (b"me", b"v", (("a", b"b"),))
    assert (second.key, second.value, second.headers) == (None, None, ())


def test_a_bad_json_line_is_named_and_those_before_it_are_written(
    broker: FakeTopics, produce: Produce, capsys: Captured
) -> None:
    assert produce(b'{"value": "a"}\n{"value": 5}\n', "t", "--format", "json") == 1
    assert pairs(broker) == [(None, b"a")]
    told = capsys.readouterr().err
    assert "1 record to t-0" in told
    assert "kwire produce: line 2: 'value' is neither text nor null" in told


@pytest.mark.parametrize(("acks", "sent"), [("all", -1), ("-1", -1), ("1", 1)])
def test_acks_are_passed_on(broker: FakeTopics, produce: Produce, acks: str, sent: int) -> None:
    assert produce(b"x\n", "t", f"--acks={acks}") == 0
    (request,) = broker.asked_for(PRODUCE)
    assert request.acks == sent
    assert bool(broker.asked_for(INIT_PRODUCER_ID)) == (sent == -1)


def test_what_a_broker_refuses_is_told_with_its_words(
    broker: FakeTopics, produce: Produce, capsys: Captured
) -> None:
    def refuse(_: ProduceRequest) -> ProduceResponse:
        partition = ProducePartitionResponse(
            error_code=ErrorCode.MESSAGE_TOO_LARGE, error_message="too large for this topic"
        )
        return ProduceResponse(responses=[ProduceTopicResponse(partition_responses=[partition])])

    broker.answers[PRODUCE] = refuse
    assert produce(b"x\n", "t") == 1
    assert capsys.readouterr().err == (
        "kwire produce: topic t, partition 0: too large for this topic (MESSAGE_TOO_LARGE)\n"
    )


def test_a_line_is_sent_while_the_input_stays_open(broker: FakeTopics) -> None:
    words = [sys.executable, "-m", "kwire", "produce", "t", "-q"]
    stored = broker.wait_for(PRODUCE)
    with subprocess.Popen(words, stdin=subprocess.PIPE, env=dict(os.environ)) as process:
        assert process.stdin is not None
        process.stdin.write(b"now\n")
        process.stdin.flush()
        assert stored.wait(30)
        assert pairs(broker) == [(None, b"now")]
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    "words", [["-k", "a", "-K", ":"], ["-z", "rar"], ["-H", "=x"], ["-D", ""], ["--acks", "2"]]
)
def test_what_makes_no_sense_is_wrong_usage(words: list[str]) -> None:
    assert main(["produce", "t", *words]) == 2
