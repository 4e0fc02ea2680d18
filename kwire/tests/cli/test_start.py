"""Where reading begins, in the words of -o."""

import argparse

import pytest

from kwire.cli.start import Start, parse_start
from kwire.peers.client import Client
from kwire.peers.reader import EARLIEST, LATEST
from kwire.tests.builders import A_TIMESTAMP, a_batch
from kwire.tests.peers.fake_topics import FakeTopics


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("beginning", Start(time=EARLIEST)),
        ("earliest", Start(time=EARLIEST)),
        ("end", Start(time=LATEST)),
        ("42", Start(offset=42)),
        ("-5", Start(time=LATEST, back=5)),
        ("@1700000000000", Start(time=1700000000000)),
    ],
)
def test_places_are_understood(text: str, expected: Start) -> None:
    assert parse_start(text) == expected


@pytest.mark.parametrize("text", ["", "start", "1.5", "@", "@soon", "--5", "+3"])
def test_other_places_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_start(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("beginning", {0: 2, 1: 2}),
        ("end", {0: 10, 1: 3}),
        ("7", {0: 7, 1: 7}),
        ("-4", {0: 6, 1: 2}),
        (f"@{A_TIMESTAMP + 5}", {0: 5, 1: 3}),
    ],
)
def test_places_become_offsets_of_each_partition(
    broker: FakeTopics, text: str, expected: dict[int, int]
) -> None:
    topic = broker.add("orders", partitions=2)
    topic.append(0, a_batch(10))
    topic.append(1, a_batch(3))
    topic.start_offset = 2
    with Client([broker.address]) as client:
        view = client.topic("orders")
        assert parse_start(text).offsets(client, view, [0, 1], committed=True) == expected
