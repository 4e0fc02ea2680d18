"""What the admin clients of Python do to topics, settings and records."""

import pytest
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import A_TIMESTAMP, Client, Refused, Sent
from compat_tests.waiting import eventually

TOPIC_ALREADY_EXISTS = 36
UNKNOWN_TOPIC_OR_PARTITION = 3


def test_a_topic_is_made_listed_widened_and_deleted(client: Client, topic: str) -> None:
    client.create(topic, partitions=2, configs={"retention.ms": "3600000"})
    assert topic in client.topics()
    assert client.partitions(topic) == [0, 1]
    client.add_partitions(topic, 5)
    # Kafka answers before all of its threads know.
    eventually(lambda: client.partitions(topic), lambda seen: seen == [0, 1, 2, 3, 4])
    with pytest.raises(Refused) as again:
        client.create(topic)
    assert again.value.code == TOPIC_ALREADY_EXISTS
    client.delete(topic)
    eventually(client.topics, lambda seen: topic not in seen)
    with pytest.raises(Refused) as gone:
        client.delete(topic)
    assert gone.value.code == UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_can_be_made_again_after_it_was_deleted(client: Client, topic: str) -> None:
    client.create(topic)
    client.write(topic, [Sent(b"old")])
    client.delete(topic)
    eventually(client.topics, lambda seen: topic not in seen)
    client.create(topic)
    assert client.first_and_end(topic) == (0, 0)
    assert client.write(topic, [Sent(b"new")]) == [0]
    assert [one.value for one in client.read(topic, 1)] == [b"new"]


def test_settings_that_are_not_named_go_back_to_their_defaults(client: Client, topic: str) -> None:
    client.create(topic, configs={"retention.ms": "3600000", "max.message.bytes": "5000"})
    before = client.configs(topic)
    assert (before["retention.ms"], before["max.message.bytes"]) == ("3600000", "5000")
    client.replace_configs(topic, {"retention.ms": "7200000"})
    after = eventually(lambda: client.configs(topic), lambda now: now != before)
    assert (after["retention.ms"], after["max.message.bytes"]) == ("7200000", "1048588")


def test_every_setting_of_a_topic_is_described(client: Client, topic: str) -> None:
    client.create(topic)
    described = client.configs(topic)
    assert described["cleanup.policy"] == "delete"
    assert described["segment.bytes"] == "1073741824"
    assert described["min.insync.replicas"] == "1"
    assert described["compression.type"] == "producer"


def test_incremental_changes_touch_only_what_they_name(broker: BrokerProcess, topic: str) -> None:
    client = Confluent(broker.bootstrap)
    client.create(f"{topic}-untouched")
    before = client.configs(f"{topic}-untouched")
    client.create(topic, configs={"retention.ms": "3600000", "max.message.bytes": "5000"})
    changes = [
        ("retention.ms", None, AlterConfigOpType.DELETE),
        ("segment.bytes", "2097152", AlterConfigOpType.SET),
        ("cleanup.policy", "compact", AlterConfigOpType.APPEND),
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic)
    resource.incremental_configs = [
        ConfigEntry(name, value, incremental_operation=operation)
        for name, value, operation in changes
    ]
    client.admin.incremental_alter_configs([resource])[resource].result(10)
    now = eventually(lambda: client.configs(topic), lambda seen: seen["segment.bytes"] == "2097152")
    # What a broker's default is may differ: kwire keeps records for two weeks, Kafka for one.
    assert now["retention.ms"] == before["retention.ms"]
    assert now["max.message.bytes"] == "5000"
    assert now["cleanup.policy"] == "delete,compact"


def test_records_are_deleted_up_to_an_offset(client: Client, topic: str) -> None:
    client.create(topic)
    client.write(topic, [Sent(b"%d" % n) for n in range(10)])
    assert client.delete_records(topic, 4) == 4
    assert client.first_and_end(topic) == (4, 10)
    assert [one.offset for one in client.read(topic, 6)] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(Refused) as beyond:
        client.delete_records(topic, 11)
    assert beyond.value.code == 1
    assert client.delete_records(topic, -1) == 10


def test_all_clients_see_the_same_cluster(
    broker: BrokerProcess, every_client: list[Client]
) -> None:
    seen = [client.cluster() for client in every_client]
    assert seen[0] == seen[1] == seen[2]
    (only,) = seen[0].brokers.items()
    assert only == (seen[0].controller, broker.bootstrap)
    assert len(seen[0].id) == 22


def test_the_record_of_the_greatest_time_is_found(broker: BrokerProcess, topic: str) -> None:
    client = Confluent(broker.bootstrap)
    client.create(topic)
    times = [A_TIMESTAMP, A_TIMESTAMP + 500, A_TIMESTAMP + 100]
    client.write(topic, [Sent(b"x", timestamp=time) for time in times], codec="zstd")
    where = TopicPartition(topic, 0)
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        for wanted, offset in (
            (OffsetSpec.MAX_TIMESTAMP, 1),
            (OffsetSpec.EARLIEST, 0),
            (OffsetSpec.LATEST, 3),
            (OffsetSpec.EARLIEST_LOCAL, 0),
            (A_TIMESTAMP + 1, 1),
        ):
            assert admin.list_partition_offsets({where: wanted})[where].offset == offset
    finally:
        admin.close()
