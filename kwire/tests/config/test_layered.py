"""Which layer's word counts, and what a running broker may be told."""

import logging

import pytest

from kwire.config.layered import Layers, check_dynamic, load
from kwire.errors import InvalidConfig, InvalidRequest


def test_flags_go_before_the_environment_and_that_before_the_file() -> None:
    layers = load(
        file={"num.partitions": "1", "node.id": "1", "fetch.max.bytes": "1111"},
        environment={"num.partitions": "2", "node.id": "2"},
        flags={"num.partitions": "3"},
    )
    config = layers.broker
    assert (config.num_partitions, config.node_id, config.fetch_max_bytes) == (3, 2, 1111)


def test_dynamic_settings_go_before_static_ones_and_a_brokers_own_first() -> None:
    layers = load(file={"log.retention.ms": "10"})
    for_all = layers.with_dynamic(default={"log.retention.ms": "20"})
    for_one = for_all.with_dynamic(broker={"log.retention.ms": "30"})
    seen = [one.broker.topic_defaults.retention_ms for one in (layers, for_all, for_one)]
    assert seen == [10, 20, 30]
    assert for_one.with_dynamic(broker={}).broker.topic_defaults.retention_ms == 20


def test_an_existing_file_starts_and_what_is_not_there_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        layers = load(
            file={
                "num.network.threads": "3",
                "offsets.commit.timeout.ms": "1",
                "process.roles": "broker,controller",
                "ssl.keystore.location": "/somewhere",
                "nonsense.key": "1",
                "num.partitions": "4",
            }
        )
    assert layers.broker.num_partitions == 4
    assert caplog.messages == [
        "configuration keys not supported:"
        " offsets.commit.timeout.ms, process.roles, ssl.keystore.location",
        "configuration keys without effect in kwire: num.network.threads",
        "configuration keys unknown: nonsense.key",
    ]


def test_a_file_that_asks_for_authorization_does_not_start_an_open_broker() -> None:
    with pytest.raises(InvalidConfig, match="open to all"):
        load(file={"authorizer.class.name": "org.apache.kafka.Authorizer"})


def test_a_running_broker_takes_new_defaults_for_topics() -> None:
    check_dynamic(Layers(), {"log.retention.ms": "5", "message.max.bytes": "1000"})


def test_a_running_broker_takes_other_limits() -> None:
    texts = {
        "log.cleaner.backoff.ms": "1",
        "log.cleaner.dedupe.buffer.size": "2000000",
        "log.cleaner.io.max.bytes.per.second": "3.5",
        "max.connections": "4",
        "max.connections.per.ip": "5",
        "max.connections.per.ip.overrides": "10.0.0.1:6",
        "producer.id.expiration.ms": "7",
    }
    check_dynamic(Layers(), texts)
    config = Layers().with_dynamic(default=texts).broker
    assert config.log_cleaner_backoff_ms == 1
    assert config.log_cleaner_dedupe_buffer_size == 2_000_000
    assert config.log_cleaner_io_max_bytes_per_second == 3.5
    assert config.max_connections == 4
    assert config.max_connections_per_ip == 5
    assert config.max_connections_per_ip_overrides == {"10.0.0.1": 6}
    assert config.producer_id_expiration_ms == 7


@pytest.mark.parametrize(
    ("texts", "error", "words"),
    [
        (
            {"log.dirs": "x"},
            InvalidRequest,
            "Cannot update these configs dynamically: [log.dirs",
        ),
        ({"log.retention.ms": "0"}, InvalidRequest, "must be unlimited"),
        ({"log.segment.bytes": "x"}, InvalidRequest, "Not a number of type INT"),
        ({"num.io.threads": "9"}, InvalidConfig, "not supported by kwire: has no effect"),
        ({"no.such.key": "9"}, InvalidConfig, "Unknown broker config name: no.such.key"),
    ],
)
def test_a_running_broker_refuses_what_it_would_not_do(
    texts: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as refused:
        check_dynamic(Layers(), texts)
    assert words in str(refused.value)
