"""Names and small files of a log directory."""

import os
from pathlib import Path

import pytest

from kwire.log.directory import (
    DirectoryInUse,
    lock,
    parse_name,
    read_meta,
    read_topic_id,
    write_topic_id,
)
from kwire.types import TopicPartition


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t-0", TopicPartition("t", 0)),
        ("with-dashes-12", TopicPartition("with-dashes", 12)),
        ("__consumer_offsets-49", TopicPartition("__consumer_offsets", 49)),
        ("-0", None),
        ("t-", None),
        ("t", None),
        ("t--1", TopicPartition("t-", 1)),
        ("t-1.0123abcd-delete", None),
        ("t-1.0123abcd-future", None),
        ("t-\u0664", None),
        ("__cluster_metadata-0", None),
    ],
)
def test_names_of_directories_tell_partitions(name: str, expected: TopicPartition | None) -> None:
    assert parse_name(name) == expected


def test_a_lock_is_free_again_when_its_descriptor_is_closed(tmp_path: Path) -> None:
    held = lock(str(tmp_path))
    with pytest.raises(DirectoryInUse, match="another broker runs on"):
        lock(str(tmp_path))
    os.close(held)
    os.close(lock(str(tmp_path)))


def test_properties_are_read_without_comments_and_spaces(tmp_path: Path) -> None:
    assert read_meta(str(tmp_path)) == {}
    (tmp_path / "meta.properties").write_text("# a=b\n cluster.id = x=y \n\nbroker.id=1\n")
    assert read_meta(str(tmp_path)) == {"cluster.id": "x=y", "broker.id": "1"}


@pytest.mark.parametrize("half", ["", "version: 0", "version: 0\ntopic_id: AAEC", "\xff"])
def test_half_a_file_tells_no_topic_id_and_is_written_again(tmp_path: Path, half: str) -> None:
    (tmp_path / "partition.metadata").write_text(half)
    before = read_topic_id(str(tmp_path))
    write_topic_id(str(tmp_path), bytes(range(16)))
    assert (before, read_topic_id(str(tmp_path))) == (None, bytes(range(16)))
