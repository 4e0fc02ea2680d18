"""kafka-topics, kafka-configs, kafka-log-dirs and kafka-broker-api-versions against both brokers.

Each call is a JVM of its own, so each test tells one longer story.
"""

import json
import re

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

pytestmark = pytest.mark.jvm


def _run(tool: str, broker: BrokerProcess, *arguments: str) -> str:
    ran = tools.run(tool, "--bootstrap-server", broker.bootstrap, *arguments)
    assert ran.code == 0, ran.out + ran.err
    return ran.out


def test_a_topic_is_created_described_altered_and_deleted(
    broker: BrokerProcess, topic: str
) -> None:
    created = _run(
        tools.TOPICS,
        broker,
        *("--create", "--topic", topic, "--partitions", "3", "--replication-factor", "1"),
        *("--config", "retention.ms=3600000", "--config", "cleanup.policy=compact,delete"),
    )
    assert f"Created topic {topic}." in created
    described = _run(tools.TOPICS, broker, "--describe", "--topic", topic)
    assert re.search(r"PartitionCount: 3\s+ReplicationFactor: 1", described)
    assert "retention.ms=3600000" in described
    assert re.search(r"TopicId: [\w-]{22}\b", described)
    assert len(re.findall(r"Partition: \d+\s+Leader: 1\s+Replicas: 1\s+Isr: 1", described)) == 3
    _run(tools.TOPICS, broker, "--alter", "--topic", topic, "--partitions", "5")
    assert topic in _run(tools.TOPICS, broker, "--list").split()
    assert len(Confluent(broker.bootstrap).partitions(topic)) == 5
    _run(tools.TOPICS, broker, "--delete", "--topic", topic)
    assert topic not in Confluent(broker.bootstrap).topics()


def test_a_topic_that_exists_is_not_created_again(broker: BrokerProcess, topic: str) -> None:
    Confluent(broker.bootstrap).create(topic)
    address = ("--bootstrap-server", broker.bootstrap)
    again = tools.run(tools.TOPICS, *address, "--create", "--topic", topic)
    assert again.code == 1
    assert f"Topic '{topic}' already exists." in again.out
    wrong = tools.run(tools.TOPICS, *address, "--create", "--topic", "a", "--partitions", "-5")
    assert wrong.code == 1


def test_settings_of_topics_and_brokers_are_told_and_changed(
    broker: BrokerProcess, topic: str
) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic, configs={"max.message.bytes": "5000"})
    of_topic = ("--entity-type", "topics", "--entity-name", topic)
    changes = "retention.ms=7200000,cleanup.policy=[compact,delete]"
    _run(
        tools.CONFIGS,
        broker,
        *("--alter", *of_topic, "--add-config", changes, "--delete-config", "max.message.bytes"),
    )
    told = _run(tools.CONFIGS, broker, "--describe", "--all", *of_topic)
    expected = r"retention\.ms=7200000 sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:"
    assert re.search(expected, told)
    assert "cleanup.policy=compact,delete" in told
    assert re.search(r"max\.message\.bytes=1048588 sensitive=false synonyms=\{DEFAULT_CONFIG", told)
    of_broker = ("--entity-type", "brokers", "--entity-name", "1")
    told = _run(tools.CONFIGS, broker, "--describe", "--all", *of_broker)
    assert "log.segment.bytes=1073741824 sensitive=false" in told
    assert "auto.create.topics.enable=true" in told


def test_settings_that_cannot_be_are_refused_with_a_reason(
    broker: BrokerProcess, topic: str
) -> None:
    Confluent(broker.bootstrap).create(topic)
    ran = tools.run(
        tools.CONFIGS,
        *("--bootstrap-server", broker.bootstrap, "--alter", "--entity-type", "topics"),
        *("--entity-name", topic, "--add-config", "retention.ms=soon"),
    )
    assert ran.code == 1
    assert "retention.ms" in ran.out + ran.err
    assert "InvalidConfigurationException" in ran.out + ran.err


def test_the_directories_and_their_sizes_are_told(broker: BrokerProcess, topic: str) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=2)
    client.write(topic, [Sent(bytes(1000))])
    told = _run(tools.LOG_DIRS, broker, "--describe", "--topic-list", topic)
    (answer,) = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    ((directory,),) = [one["logDirs"] for one in answer["brokers"]]
    assert directory["error"] is None
    assert directory["logDir"] == str(broker.log_dir)
    sizes = {one["partition"]: one["size"] for one in directory["partitions"]}
    assert sizes[f"{topic}-0"] > 1000
    assert sizes[f"{topic}-1"] == 0


def test_the_versions_that_are_told_are_usable(broker: BrokerProcess) -> None:
    told = _run(tools.API_VERSIONS, broker)
    assert "UNSUPPORTED" not in told.split("ApiVersions(18)")[1].splitlines()[0]
    usable = dict(re.findall(r"(\w+)\(\d+\): (?:\d+ to )?\d+ \[usable: (\d+)\]", told))
    for api in ("Produce", "Fetch", "ListOffsets", "Metadata", "ApiVersions", "CreateTopics"):
        assert int(usable[api]) >= 3, (api, told)
