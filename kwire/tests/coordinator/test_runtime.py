"""Which shard a key belongs to, and when shards come and go."""

from pathlib import Path

import pytest

from kwire.coordinator.runtime import java_hash, partition_of
from kwire.errors import CoordinatorLoadInProgress, NotCoordinator
from kwire.groups.commands import Commit, OffsetToCommit
from kwire.tests.handlers.nodes import OpenNode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("console-consumer-12345", 158455506),
        ("polygenelubricants", -(2**31)),
        ("gr\u00fc\u00dfe", 98768023),
        ("\U0001f600", 1772899),
    ],
)
def test_texts_are_hashed_as_java_does(text: str, expected: int) -> None:
    assert java_hash(text) == expected & 0xFFFF_FFFF


def test_the_sign_of_a_hash_does_not_count() -> None:
    assert partition_of("polygenelubricants", 50) == 0
    assert partition_of("a", 50) == 47


def test_the_internal_topic_is_made_when_somebody_asks_who_coordinates(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"offsets.topic.num.partitions": "50"})
    topics = node.node.controller.image.topics
    with pytest.raises(NotCoordinator):
        node.node.groups.reading("g")
    assert "__consumer_offsets" not in topics
    assert node.node.groups.coordinators_of(["g", "h"]).value == [1, 1]
    made = topics["__consumer_offsets"]
    assert len(made.partitions) == 50
    assert made.config == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    assert node.node.groups.reading("g").groups == {}
    node.close()


def test_without_its_topic_nobody_coordinates_any_more(node: OpenNode) -> None:
    node.node.groups.coordinators_of(["g"])
    node.node.controller.delete_topics(["__consumer_offsets"])
    with pytest.raises(NotCoordinator):
        node.node.groups.reading("g")
    node.node.groups.coordinators_of(["g"])
    assert node.node.groups.reading("g").groups == {}


def test_hundreds_of_empty_shards_are_there_at_once(tmp_path: Path) -> None:
    node = OpenNode(tmp_path, {"offsets.topic.num.partitions": "400"})
    node.node.groups.coordinators_of(["g"])
    assert len(list(node.node.groups.reading_all())) == 400
    node.close()


def test_shards_are_loaded_one_after_the_other(tmp_path: Path) -> None:
    node = OpenNode(tmp_path)
    node.node.groups.coordinators_of(["g"])
    names = ["a", "b"]
    assert {partition_of(name, 2) for name in names} == {0, 1}
    for name in names:
        node.node.groups.commit(Commit(name, (OffsetToCommit("t", 0, 5),)))
    node.close()
    node = OpenNode(tmp_path, loads_at_once=False)
    assert len(node.scheduler.soon) == 1
    with pytest.raises(CoordinatorLoadInProgress):
        list(node.node.groups.reading_all())
    node.scheduler.end_turn()
    assert sum(len(shard.groups) for shard in node.node.groups.reading_all()) == 2
    node.close()
