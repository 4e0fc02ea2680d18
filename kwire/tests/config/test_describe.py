"""What DescribeConfigs tells of values and where they come from."""

from kwire.config.broker import BROKER_KEYS
from kwire.config.describe import describe_broker, describe_broker_defaults, describe_topic
from kwire.config.keys import HOUR_MS, ConfigType
from kwire.config.layered import Layers, Source, load
from kwire.config.topic import TOPIC_KEYS


def test_every_topic_key_is_described_once_in_order() -> None:
    entries = describe_topic(Layers(), {})
    assert [entry.name for entry in entries] == sorted(TOPIC_KEYS)
    assert {entry.source for entry in entries} == {Source.DEFAULT}


def test_every_broker_key_is_described_once_in_order() -> None:
    entries = describe_broker(Layers())
    assert [entry.name for entry in entries] == sorted(BROKER_KEYS)


def test_a_topics_own_value_stands_before_its_synonyms() -> None:
    layers = load(file={"log.segment.bytes": "2000000"})
    (entry,) = describe_topic(layers, {"segment.bytes": " 3000000"}, ["segment.bytes"])
    assert (entry.value, entry.source) == ("3000000", Source.DYNAMIC_TOPIC)
    assert (entry.type, entry.read_only, entry.is_sensitive) == (ConfigType.INT, False, False)
    assert [tuple(one) for one in entry.synonyms] == [
        ("segment.bytes", "3000000", Source.DYNAMIC_TOPIC),
        ("log.segment.bytes", "2000000", Source.STATIC_BROKER),
        ("log.segment.bytes", "1073741824", Source.DEFAULT),
    ]


def test_a_coarser_unit_alone_is_no_synonym_of_a_topics_own_value() -> None:
    (entry,) = describe_topic(Layers(), {"retention.ms": "1000"}, ["retention.ms"])
    assert [tuple(one) for one in entry.synonyms] == [
        ("retention.ms", "1000", Source.DYNAMIC_TOPIC)
    ]


def test_a_coarser_unit_tells_the_topic_its_source() -> None:
    layers = load(file={"log.retention.hours": "2"})
    (entry,) = describe_topic(layers, {}, ["retention.ms"])
    assert (entry.value, entry.source) == (str(2 * HOUR_MS), Source.STATIC_BROKER)


def test_a_broker_key_names_all_layers_that_set_it() -> None:
    layers = load(file={"log.retention.ms": "1", "log.retention.hours": "3"}).with_dynamic(
        default={"log.retention.ms": "2"}, broker={"log.retention.ms": "4"}
    )
    (entry,) = describe_broker(layers, ["log.retention.ms"])
    assert (entry.value, entry.source, entry.read_only) == ("4", Source.DYNAMIC_BROKER, False)
    assert [tuple(one) for one in entry.synonyms] == [
        ("log.retention.ms", "4", Source.DYNAMIC_BROKER),
        ("log.retention.ms", "2", Source.DYNAMIC_DEFAULT_BROKER),
        ("log.retention.ms", "1", Source.STATIC_BROKER),
        ("log.retention.hours", "3", Source.STATIC_BROKER),
        ("log.retention.hours", "336", Source.DEFAULT),
    ]


def test_what_was_never_set_is_null_and_default() -> None:
    (entry,) = describe_broker(Layers(), ["log.retention.ms"])
    assert (entry.value, entry.source, entry.synonyms) == (None, Source.DEFAULT, ())


def test_settings_of_the_start_are_read_only() -> None:
    (entry,) = describe_broker(load(flags={"broker.id": "9"}), ["node.id"])
    assert (entry.value, entry.read_only) == ("9", True)


def test_the_default_of_all_brokers_tells_only_what_was_set_for_all() -> None:
    layers = Layers().with_dynamic(default={"log.retention.ms": "2"}, broker={"log.roll.ms": "3"})
    (entry,) = describe_broker_defaults(layers)
    assert (entry.name, entry.value, entry.source) == (
        "log.retention.ms",
        "2",
        Source.DYNAMIC_DEFAULT_BROKER,
    )


def test_numbers_are_written_as_java_writes_them() -> None:
    texts = {entry.name: entry.value for entry in describe_broker(Layers())}
    assert texts["log.cleaner.io.max.bytes.per.second"] == "1.7976931348623157E308"
    assert texts["log.cleaner.min.cleanable.ratio"] == "0.5"
    assert texts["delete.topic.enable"] == "true"
