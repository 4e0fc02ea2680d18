"""The console clients, the perf test of producers and the tools that speak about offsets."""

import json
import re
from pathlib import Path

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

pytestmark = pytest.mark.jvm


def _run(tool: str, broker: BrokerProcess, *arguments: str, stdin: str = "") -> str:
    ran = tools.run(tool, "--bootstrap-server", broker.bootstrap, *arguments, stdin=stdin)
    assert ran.code == 0, ran.out + ran.err
    return ran.out


def test_the_console_clients_carry_keys_headers_and_times(
    broker: BrokerProcess, topic: str
) -> None:
    Confluent(broker.bootstrap).create(topic)
    lines = "h1:a,h2:b\tk1\tv1\n" + "".join(f"h1:x\tk{n}\tv{n}\n" for n in range(2, 101))
    read = ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true")
    codec = ("--compression-codec", "zstd")
    _run(tools.CONSOLE_PRODUCER, broker, "--topic", topic, *read, *codec, stdin=lines)
    shown = ("key", "headers", "offset", "partition", "timestamp")
    wanted = [part for name in shown for part in ("--formatter-property", f"print.{name}=true")]
    # A group would need a coordinator; a partition that is named needs none.
    place = ("--partition", "0", "--offset", "earliest", "--max-messages", "100")
    printed = _run(tools.CONSOLE_CONSUMER, broker, "--topic", topic, *place, *wanted).splitlines()
    assert len(printed) == 100
    assert re.fullmatch(r"CreateTime:\d{13}\tPartition:0\tOffset:0\th1:a,h2:b\tk1\tv1", printed[0])
    assert [line.split("\t")[-1] for line in printed] == [f"v{n}" for n in range(1, 101)]


def test_offsets_follow_what_is_written_and_deleted(
    broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=2)
    client.write(topic, [Sent(b"x", partition=n % 2) for n in range(20)])
    deletion = tmp_path / "offsets.json"
    first = {"topic": topic, "partition": 0, "offset": 4}
    deletion.write_text(json.dumps({"partitions": [first], "version": 1}))
    told = _run(tools.DELETE_RECORDS, broker, "--offset-json-file", str(deletion))
    assert re.search(rf"partition: {topic}-0\s+low_watermark: 4", told)
    asked = ("--topic", topic, "--time")
    assert _run(tools.GET_OFFSETS, broker, *asked, "earliest").split() == [
        f"{topic}:0:4",
        f"{topic}:1:0",
    ]
    assert _run(tools.GET_OFFSETS, broker, *asked, "latest").split() == [
        f"{topic}:0:10",
        f"{topic}:1:10",
    ]


def test_the_perf_test_of_producers_writes_every_record(broker: BrokerProcess, topic: str) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=3)
    address = f"bootstrap.servers={broker.bootstrap}"
    written = tools.run(
        tools.PRODUCER_PERFORMANCE,
        *("--topic", topic, "--num-records", "50000", "--record-size", "200"),
        *("--throughput", "-1", "--command-property", address, "compression.type=lz4", "acks=all"),
    )
    assert written.code == 0, written.err
    assert "50000 records sent" in written.out
    ends = _run(tools.GET_OFFSETS, broker, "--topic", topic).split()
    assert sum(int(line.rsplit(":", 1)[1]) for line in ends) == 50000


def test_one_record_at_a_time_goes_round(broker: BrokerProcess, topic: str) -> None:
    Confluent(broker.bootstrap).create(topic)
    ran = tools.run(
        tools.END_TO_END_LATENCY,
        *("--bootstrap-server", broker.bootstrap, "--topic", topic, "--num-records", "300"),
        *("--producer-acks", "all", "--record-size", "100"),
    )
    assert ran.code == 0, ran.out + ran.err
    assert "Percentiles: 50th" in ran.out
