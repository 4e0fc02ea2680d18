"""The oracle itself works here: Apache Kafka starts, its tools and kcat reach it."""

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.processes import BrokerProcess

pytestmark = pytest.mark.jvm


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
