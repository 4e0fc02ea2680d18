"""`kwire consume`, into files, pipes and readers that leave."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kwire.cli.main import main
from kwire.codec.apis import FETCH
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record
from kwire.tests.peers.fake_topics import FakeTopic, FakeTopics

Captured = pytest.CaptureFixture[bytes]


@pytest.fixture
def topic(broker: FakeTopics) -> FakeTopic:
    """Two partitions: a, b, c in the first, and x in the second."""
    made = broker.add("t", partitions=2)
    made.append(0, a_batch([a_record(0, value=b"a"), a_record(1, value=b"b")]))
    made.append(0, a_batch([a_record(0, value=b"c", timestamp=A_TIMESTAMP + 10)]))
    made.append(1, a_batch([a_record(0, value=b"x")]))
    return made


@contextmanager
def consuming(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own, as at the head of a pipe."""
    command = [sys.executable, "-m", "kwire", "consume", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], b"a\nb\nc\nx\n"),
        (["-p", "0"], b"a\nb\nc\n"),
        (["-p", "0,1"], b"a\nb\nc\nx\n"),
        (["-p", "1", "-p", "0"], b"a\nb\nc\nx\n"),
        (["-o", "end"], b""),
        (["-o", "1", "-p", "0"], b"b\nc\n"),
        (["-o", "-1"], b"c\nx\n"),
        (["-o", f"@{A_TIMESTAMP + 1}"], b"c\n"),
        (["-c", "2"], b"a\nb\n"),
        (["-c", "3"], b"a\nb\nc\n"),
        (["-c", "99"], b"a\nb\nc\nx\n"),
        (["-f", r"%p/%o=%s;"], b"0/0=a;0/1=b;0/2=c;1/0=x;"),
        (["-K", "%", "-p1"], b"key%x\n"),
    ],
)
def test_what_is_asked_for_is_printed(
    topic: FakeTopic, capfdbinary: Captured, words: list[str], expected: bytes
) -> None:
    assert main(["consume", "t", "-e", *words]) == 0
    assert capfdbinary.readouterr() == (expected, b"")


def test_a_count_ends_it_without_the_end_of_the_topic(
    topic: FakeTopic, capfdbinary: Captured
) -> None:
    assert main(["consume", "t", "-c", "4"]) == 0
    assert capfdbinary.readouterr().out == b"a\nb\nc\nx\n"


def test_json_comes_a_line_a_record(topic: FakeTopic, capfdbinary: Captured) -> None:
    assert main(["consume", "t", "-e", "-p", "1", "--format", "json"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == {
        "topic": "t",
        "partition": 1,
        "offset": 0,
        "timestamp": A_TIMESTAMP,
        "key": "key",
        "value": "x",
        "headers": [],
    }


def test_null_is_shown_when_asked_for(broker: FakeTopics, capfdbinary: Captured) -> None:
    broker.add("t").append(0, a_batch([a_record(key=None, value=None)]))
    assert main(["consume", "t", "-e", "-Z", "-K", ":"]) == 0
    assert capfdbinary.readouterr().out == b"NULL:NULL\n"


def test_a_topic_that_is_not_there_is_told_and_not_made(
    broker: FakeTopics, capfdbinary: Captured
) -> None:
    assert main(["consume", "t", "-e"]) == 1
    assert capfdbinary.readouterr().err == (
        b"kwire consume: topic t: there is no such topic (UNKNOWN_TOPIC_OR_PARTITION)\n"
    )
    assert broker.topics == {}


def test_a_partition_that_is_not_there_is_told(topic: FakeTopic, capfdbinary: Captured) -> None:
    assert main(["consume", "t", "-p", "5"]) == 1
    assert b"topic t has no partition 5" in capfdbinary.readouterr().err


def test_an_offset_that_is_not_there_is_told(topic: FakeTopic, capfdbinary: Captured) -> None:
    assert main(["consume", "t", "-p", "0", "-o", "99", "-e"]) == 1
    assert b"offset 99: the partition holds no such offset" in capfdbinary.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["-o", "soon"], ["-p", "a"], ["-c", "0"], ["-f", "%x"], ["--format", "json", "-f", "%s"]],
)
def test_what_makes_no_sense_is_wrong_usage(words: list[str]) -> None:
    assert main(["consume", "t", *words]) == 2


def test_a_record_is_printed_as_soon_as_it_comes(broker: FakeTopics, topic: FakeTopic) -> None:
    is_fetching = broker.wait_for(FETCH)
    with consuming("t", "-o", "end", "-p", "0") as process:
        assert process.stdout is not None
        assert is_fetching.wait(30)
        for value in (b"d", b"e"):
            topic.append(0, a_batch([a_record(value=value)]))
            assert process.stdout.readline() == value + b"\n"


def test_an_interrupt_ends_it_quietly(topic: FakeTopic) -> None:
    with consuming("t") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"a\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_it_notices_that_its_reader_left_even_when_no_record_comes(
    broker: FakeTopics, topic: FakeTopic
) -> None:
    with consuming("t") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"a\n"
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert broker.asked_for(FETCH)
