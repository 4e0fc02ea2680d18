"""kcat, as people use it from a shell: list, write with each codec, read, ask for offsets."""

import json

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture
def kept(broker: BrokerProcess, topic: str) -> str:
    """A topic that exists."""
    Confluent(broker.bootstrap).create(topic, partitions=2)
    return topic


def test_the_list_names_broker_topic_and_partitions(broker: BrokerProcess, kept: str) -> None:
    listed = json.loads(tools.kcat(broker.bootstrap, "-L", "-J", "-t", kept))
    (only,) = listed["brokers"]
    assert only["name"] == broker.bootstrap
    (described,) = listed["topics"]
    assert described["topic"] == kept
    assert [one["partition"] for one in described["partitions"]] == [0, 1]
    assert {one["leader"] for one in described["partitions"]} == {only["id"]}
    assert all(one["isrs"] == [{"id": only["id"]}] for one in described["partitions"])


@pytest.mark.parametrize("codec", CODECS)
def test_lines_written_with_each_codec_are_read_again(
    broker: BrokerProcess, kept: str, codec: str
) -> None:
    lines = b"".join(b"key%d:value %d %s\n" % (n, n, b"x" * n) for n in range(200))
    tools.kcat(broker.bootstrap, "-P", "-t", kept, "-p", "1", "-K:", "-z", codec, stdin=lines)
    read = tools.kcat(broker.bootstrap, "-C", "-e", "-q", "-t", kept, "-p", "1", "-K:")
    assert read == lines


@pytest.mark.parametrize(
    ("offset", "expected"),
    [("beginning", "0 1 2 3 4 5 6 7 8 9"), ("6", "6 7 8 9"), ("-3", "7 8 9"), ("end", "")],
)
def test_reading_begins_at_the_offset_that_is_asked_for(
    broker: BrokerProcess, kept: str, offset: str, expected: str
) -> None:
    tools.kcat(broker.bootstrap, "-P", "-t", kept, "-p", "0", stdin=b"x\n" * 10)
    read = tools.kcat(
        broker.bootstrap, "-C", "-e", "-q", "-t", kept, "-p", "0", "-o", offset, "-f", "%o "
    )
    assert read.decode().split() == expected.split()


def test_offsets_are_found_by_time(broker: BrokerProcess, kept: str) -> None:
    tools.kcat(broker.bootstrap, "-P", "-t", kept, "-p", "0", stdin=b"x\n" * 5)
    asked = [argument for time in ("0", "-1", "-2") for argument in ("-t", f"{kept}:0:{time}")]
    found = [tools.kcat(broker.bootstrap, "-Q", *asked[n : n + 2]).decode() for n in (0, 2, 4)]
    assert [line.split()[-1] for line in found] == ["0", "5", "0"]


def test_headers_and_tombstones_survive(broker: BrokerProcess, kept: str) -> None:
    tools.kcat(
        broker.bootstrap, "-P", "-t", kept, "-p", "0", "-Z", "-K:", "-H", "who=kcat", stdin=b"gone:"
    )
    seen = json.loads(tools.kcat(broker.bootstrap, "-C", "-e", "-q", "-J", "-t", kept, "-p", "0"))
    assert (seen["key"], seen["payload"], seen["headers"]) == ("gone", None, ["who", "kcat"])


def test_a_topic_is_made_by_writing_to_it(broker: BrokerProcess, topic: str) -> None:
    tools.kcat(broker.bootstrap, "-P", "-t", topic, stdin=b"first\n")
    assert tools.kcat(broker.bootstrap, "-C", "-e", "-q", "-t", topic) == b"first\n"
