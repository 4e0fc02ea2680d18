"""Topic settings: what is taken, what is refused, and with which words."""

import pytest

from kwire.config.broker import BrokerConfig, resolve_broker
from kwire.config.keys import HOUR_MS
from kwire.config.topic import TOPIC_KEYS, TopicConfig, parse_topic_overrides, resolve_topic
from kwire.config.unsupported import UNSUPPORTED_TOPIC_KEYS
from kwire.errors import InvalidConfig


def test_a_topic_without_settings_shares_the_brokers_defaults() -> None:
    broker = BrokerConfig()
    assert resolve_topic({}, broker) is broker.topic_defaults


def test_retention_is_two_weeks_unless_told_otherwise() -> None:
    assert TopicConfig().retention_ms == 14 * 24 * HOUR_MS
    assert resolve_broker({}).topic_defaults.retention_ms == 14 * 24 * HOUR_MS


def test_a_topics_own_setting_goes_before_the_brokers() -> None:
    broker = resolve_broker({"log.segment.bytes": "2000000", "message.max.bytes": "77"})
    config = resolve_topic({"segment.bytes": " 3000000 "}, broker)
    assert (config.segment_bytes, config.max_message_bytes) == (3_000_000, 77)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at"),
        ("retention.ms", "soon", "Invalid value soon for configuration retention.ms: Not a number"),
        ("retention.ms", "1_000", "Not a number of type LONG"),
        ("retention.ms", str(2**63), "Not a number of type LONG"),
        ("segment.bytes", str(2**31), "Not a number of type INT"),
        ("segment.bytes", "1048575", "Value must be at least 1048576"),
        ("min.cleanable.dirty.ratio", "1.5", "Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", "nan", "Not a number of type DOUBLE"),
        ("cleanup.policy", "delete,shred", "Invalid value shred for configuration cleanup.policy:"),
        ("cleanup.policy", "delete,delete", "must not be duplicated"),
        ("compression.type", "brotli", "String must be one of: uncompressed, zstd, lz4, snappy"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("unclean.leader.election.enable", "yes", "Expected value to be either true or false"),
        ("preallocate", "true", "not supported by kwire"),
        ("local.retention.ms", "5", "not supported by kwire: there is no tiered storage"),
        ("retention.mss", "5", "Unknown topic config name: retention.mss"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(name: str, value: str, words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        resolve_topic({name: value}, BrokerConfig())
    assert words in refused.value.message


def test_both_cleanup_policies_may_be_asked_for_and_none_too() -> None:
    both = resolve_topic({"cleanup.policy": "compact, delete"}, BrokerConfig())
    neither = resolve_topic({"cleanup.policy": ""}, BrokerConfig())
    assert both.cleanup_policy == {"compact", "delete"}
    assert neither.cleanup_policy == frozenset()


def test_the_compaction_lags_must_not_cross() -> None:
    with pytest.raises(InvalidConfig, match=r"conflict topic config setting min\.compaction"):
        resolve_topic({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, BrokerConfig())


def test_every_default_reads_back_from_its_own_text() -> None:
    for declared in TOPIC_KEYS.values():
        shown = declared.show(declared.default)
        assert shown is not None
        assert declared.parse(shown) == declared.default


def test_no_key_is_both_supported_and_not() -> None:
    assert not UNSUPPORTED_TOPIC_KEYS.keys() & TOPIC_KEYS.keys()


def test_overrides_are_parsed_by_attribute() -> None:
    assert parse_topic_overrides({"flush.messages": "1"}) == {"flush_messages": 1}
