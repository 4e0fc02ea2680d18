"""Consumer groups through Kafka's tools: the perf test, and kafka-consumer-groups."""

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

pytestmark = pytest.mark.jvm


def test_a_group_reads_is_described_reset_and_deleted(broker: BrokerProcess, topic: str) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=2)
    client.write(topic, [Sent(b"x" * 100, partition=n % 2) for n in range(5000)])
    address = ("--bootstrap-server", broker.bootstrap)
    group = ("--group", f"group-of-{topic}")
    read = tools.run(
        tools.CONSUMER_PERFORMANCE,
        *(*address, *group, "--topic", topic, "--num-records", "5000", "--timeout", "20000"),
    )
    assert read.code == 0, read.err
    assert ", 5000, " in read.out
    told = tools.run(tools.CONSUMER_GROUPS, *address, *group, "--describe")
    rows = [line.split()[1:6] for line in told.lines if line.startswith("group-of-")]
    assert sorted(rows) == [[topic, "0", "2500", "2500", "0"], [topic, "1", "2500", "2500", "0"]]
    back = ("--reset-offsets", "--to-offset", "100", "--topic", topic, "--execute")
    reset = tools.run(tools.CONSUMER_GROUPS, *address, *group, *back)
    assert reset.code == 0, reset.err
    assert [line.split()[-1] for line in reset.lines if topic in line] == ["100", "100"]
    gone = tools.run(tools.CONSUMER_GROUPS, *address, *group, "--delete")
    assert "was successful" in gone.out, gone.out + gone.err
