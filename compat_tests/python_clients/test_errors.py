"""What a broker refuses, and the number it says it with: the same for every client."""

import time
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Client, Refused, Sent

MESSAGE_TOO_LARGE = 10
INVALID_TOPIC = 17
INVALID_TIMESTAMP = 32
INVALID_PARTITIONS = 37
INVALID_CONFIG = 40
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_RECORD = 87
HOUR_MS = 3_600_000


class Creation(NamedTuple):
    name: str
    code: int
    partitions: int = 1
    configs: Mapping[str, str] = {}


BAD_CREATIONS = {
    "a slash": Creation("a/b", INVALID_TOPIC),
    "a space": Creation("a b", INVALID_TOPIC),
    "a dot": Creation(".", INVALID_TOPIC),
    "two dots": Creation("..", INVALID_TOPIC),
    "250 characters": Creation("x" * 250, INVALID_TOPIC),
    "not ASCII": Creation("größe", INVALID_TOPIC),
    "no partitions": Creation("zero", INVALID_PARTITIONS, partitions=0),
    "an unknown setting": Creation("bad", INVALID_CONFIG, configs={"no.such.key": "1"}),
    "no number": Creation("bad", INVALID_CONFIG, configs={"retention.ms": "soon"}),
    "out of range": Creation("bad", INVALID_CONFIG, configs={"min.insync.replicas": "0"}),
    "an unknown policy": Creation("bad", INVALID_CONFIG, configs={"cleanup.policy": "shred"}),
}


@pytest.mark.parametrize("wanted", BAD_CREATIONS.values(), ids=BAD_CREATIONS)
def test_a_topic_that_cannot_be_is_refused(client: Client, wanted: Creation) -> None:
    with pytest.raises(Refused) as refused:
        client.create(wanted.name, wanted.partitions, wanted.configs)
    assert refused.value.code == wanted.code


def test_names_that_differ_in_dots_and_underscores_collide(client: Client, topic: str) -> None:
    client.create(f"{topic}.a")
    with pytest.raises(Refused) as refused:
        client.create(f"{topic}_a")
    assert refused.value.code == INVALID_TOPIC


def test_a_batch_above_the_topics_limit_is_too_large(client: Client, topic: str) -> None:
    client.create(topic, configs={"max.message.bytes": "2000"})
    with pytest.raises(Refused) as refused:
        client.write(topic, [Sent(bytes(3000))])
    assert refused.value.code == MESSAGE_TOO_LARGE
    assert client.write(topic, [Sent(bytes(1000))]) == [0]


@pytest.mark.parametrize(
    ("limit", "hours"),
    [("message.timestamp.before.max.ms", -2), ("message.timestamp.after.max.ms", 2)],
)
def test_a_record_from_another_time_is_refused(
    client: Client, topic: str, limit: str, hours: int
) -> None:
    client.create(topic, configs={limit: str(HOUR_MS)})
    now = int(time.time() * 1000)
    with pytest.raises(Refused) as refused:
        client.write(topic, [Sent(b"x", timestamp=now + hours * HOUR_MS)])
    assert refused.value.code == INVALID_TIMESTAMP
    assert client.write(topic, [Sent(b"x", timestamp=now)]) == [0]


def test_a_compacted_topic_takes_no_record_without_a_key(client: Client, topic: str) -> None:
    client.create(topic, configs={"cleanup.policy": "compact"})
    with pytest.raises(Refused) as refused:
        client.write(topic, [Sent(b"no key")])
    # aiokafka does not know 87 and takes it for an unknown error.
    assert refused.value.code in (INVALID_RECORD, -1)
    assert client.write(topic, [Sent(b"value", key=b"key")]) == [0]


def test_partitions_only_ever_grow(client: Client, topic: str) -> None:
    client.create(topic, partitions=3)
    for total in (3, 2, 1):
        with pytest.raises(Refused) as refused:
            client.add_partitions(topic, total)
        assert refused.value.code == INVALID_PARTITIONS
    assert client.partitions(topic) == [0, 1, 2]


def test_nothing_is_known_of_a_topic_that_does_not_exist(client: Client, topic: str) -> None:
    with pytest.raises(Refused) as refused:
        client.add_partitions(topic, 3)
    assert refused.value.code == UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(Refused) as unchanged:
        client.replace_configs(topic, {"retention.ms": "1000"})
    assert unchanged.value.code == UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_comes_into_being_when_it_is_written_to(client: Client, topic: str) -> None:
    assert client.write(topic, [Sent(b"first")]) == [0]
    assert topic in client.topics()


def test_no_topic_comes_into_being_where_that_is_switched_off(
    broker_without_auto_creation: BrokerProcess, topic: str
) -> None:
    client = Confluent(broker_without_auto_creation.bootstrap)
    with pytest.raises(Refused) as refused:
        client.write(topic, [Sent(b"first")])
    assert refused.value.code == UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(Refused) as unknown:
        client.partitions(topic)
    assert unknown.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert topic not in client.topics()
