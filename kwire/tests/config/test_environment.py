"""Settings from environment variables."""

import pytest

from kwire.config.environment import from_environment
from kwire.errors import InvalidConfig


def test_underscores_stand_for_dots_and_more_of_them_for_other_signs() -> None:
    found = from_environment(
        {"KAFKA_NUM_PARTITIONS": "3", "KAFKA_A__B___C_D": "x", "PATH": "/bin", "KAFKA_": "y"}
    )
    assert found == {"num.partitions": "3", "a_b-c.d": "x"}


def test_our_own_prefix_wins() -> None:
    environ = {"KWIRE_NODE_ID": "2", "KAFKA_NODE_ID": "1", "KAFKA_LOG_DIRS": "/d"}
    assert from_environment(environ) == {"node.id": "2", "log.dirs": "/d"}


def test_what_images_set_for_themselves_is_no_setting() -> None:
    assert from_environment({"KAFKA_HEAP_OPTS": "-Xmx1G", "KAFKA_JMX_PORT": "1"}) == {}


def test_what_names_a_cluster_to_our_own_commands_is_no_setting_of_a_broker() -> None:
    assert from_environment({"KWIRE_BOOTSTRAP_SERVER": "localhost:9092"}) == {}


def test_without_listeners_the_advertised_ones_are_listened_on_everywhere() -> None:
    advertised = "INTERNAL://broker:19092,EXTERNAL://localhost:9092"
    found = from_environment({"KAFKA_ADVERTISED_LISTENERS": advertised})
    assert found["listeners"] == "INTERNAL://0.0.0.0:19092,EXTERNAL://0.0.0.0:9092"
    kept = {"KAFKA_ADVERTISED_LISTENERS": advertised, "KAFKA_LISTENERS": "A://:1"}
    assert from_environment(kept)["listeners"] == "A://:1"


def test_advertised_listeners_that_do_not_parse_are_named() -> None:
    with pytest.raises(InvalidConfig, match=r"advertised\.listeners: Unable to parse"):
        from_environment({"KWIRE_ADVERTISED_LISTENERS": "nonsense"})
