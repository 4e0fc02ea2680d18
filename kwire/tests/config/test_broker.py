"""What a broker makes of the texts it is given."""

import pytest

from kwire.config.broker import BROKER_KEYS, BrokerConfig, resolve_broker
from kwire.config.keys import HOUR_MS, LONG_MAX, MINUTE_MS
from kwire.config.unsupported import why_unsupported
from kwire.errors import InvalidConfig


def test_nothing_given_is_a_broker_for_a_laptop() -> None:
    config = resolve_broker({})
    assert [str(one) for one in config.listeners] == ["PLAINTEXT://localhost:9092"]
    assert config.advertised_listeners == config.listeners
    assert (config.node_id, config.num_partitions) == (1, 1)
    assert config.default_replication_factor == 1


@pytest.mark.parametrize(
    ("texts", "retention_ms"),
    [
        ({"log.retention.hours": "2"}, 2 * HOUR_MS),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 3 * MINUTE_MS),
        ({"log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.minutes": "-7"}, -1),
    ],
)
def test_the_finest_unit_that_is_set_gives_the_retention(
    texts: dict[str, str], retention_ms: int
) -> None:
    assert resolve_broker(texts).topic_defaults.retention_ms == retention_ms


def test_segments_roll_by_hours_unless_milliseconds_are_set() -> None:
    by_hours = resolve_broker({"log.roll.hours": "3"}).topic_defaults
    by_ms = resolve_broker({"log.roll.hours": "3", "log.roll.ms": "9"}).topic_defaults
    assert (by_hours.segment_ms, by_ms.segment_ms) == (3 * HOUR_MS, 9)


def test_flushing_falls_back_to_the_scheduler() -> None:
    config = resolve_broker({"log.flush.scheduler.interval.ms": "50"})
    assert config.topic_defaults.flush_ms == config.log_flush_scheduler_interval_ms == 50
    assert resolve_broker({}).topic_defaults.flush_ms == LONG_MAX


def test_older_names_are_understood() -> None:
    config = resolve_broker({"broker.id": "7", "log.dir": "/data/a"})
    assert (config.node_id, config.log_dirs) == (7, ("/data/a",))


def test_the_listeners_of_a_kraft_controller_are_left_out() -> None:
    config = resolve_broker(
        {
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL",
        }
    )
    assert [one.name for one in config.listeners] == ["PLAINTEXT"]
    assert [str(one) for one in config.advertised_listeners] == ["PLAINTEXT://localhost:9092"]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"node.id": "1", "broker.id": "2"}, "the same value as `broker.id`"),
        ({"log.dirs": "a,b"}, "exactly one directory"),
        ({"log.retention.ms": "0"}, "must be unlimited (-1) or, greater"),
        ({"queued.max.request.bytes": "5"}, "must be larger or equal to socket.request.max.bytes"),
        ({"max.connections.per.ip": "0"}, "can be set to zero only if"),
        ({"num.partitions": "0"}, "Invalid value 0 for configuration num.partitions"),
        ({"log.roll.hours": "0"}, "Invalid value 0 for configuration log.roll.hours"),
        (
            {"log.cleaner.min.compaction.lag.ms": "9", "log.cleaner.max.compaction.lag.ms": "1"},
            "conflict topic config setting",
        ),
        ({"group.consumer.session.timeout.ms": "44999"}, "must not be below"),
        ({"group.consumer.session.timeout.ms": "60001"}, "nor above"),
        ({"group.consumer.heartbeat.interval.ms": "4999"}, "must not be below"),
        ({"group.consumer.heartbeat.interval.ms": "15001"}, "nor above"),
        (
            {
                "group.consumer.heartbeat.interval.ms": "45000",
                "group.consumer.max.heartbeat.interval.ms": "45000",
            },
            "must be less than group.consumer.session.timeout.ms",
        ),
        ({"group.consumer.assignors": "uniform,org.example.Mine"}, "at most once"),
        ({"group.consumer.assignors": ""}, "at most once"),
    ],
)
def test_what_cannot_be_is_refused(texts: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        resolve_broker(texts)
    assert words in refused.value.message


def test_no_key_is_both_supported_and_not() -> None:
    told = {"controller.listener.names"}  # enforced, among a prefix that is not
    assert [name for name in BROKER_KEYS if why_unsupported(name) and name not in told] == []


def test_every_key_is_documented_and_its_default_reads_back() -> None:
    for declared in BROKER_KEYS.values():
        assert declared.doc.endswith(".")
        shown = declared.show(declared.default)
        assert shown is None or declared.parse(shown) == declared.default


def test_the_defaults_are_what_resolving_nothing_gives() -> None:
    assert resolve_broker({}).topic_defaults == BrokerConfig().topic_defaults


@pytest.mark.parametrize(
    "name", ["offsets.topic.segment.bytes", "transaction.state.log.segment.bytes"]
)
def test_internal_topics_get_no_segments_that_no_topic_may_have(name: str) -> None:
    with pytest.raises(InvalidConfig, match="at least 1048576"):
        resolve_broker({name: "1048575"})
