"""Kafka's text checkpoints."""

from pathlib import Path

import pytest

from kwire.log.checkpoints import read_lines, read_offsets, write_offsets
from kwire.types import TopicPartition


def test_offsets_are_written_as_kafka_writes_them(tmp_path: Path) -> None:
    path = str(tmp_path / "checkpoint")
    offsets = {TopicPartition("b", 10): 5, TopicPartition("b", 2): 2**40, TopicPartition("a", 0): 0}
    write_offsets(path, offsets)
    assert Path(path).read_text() == "0\n3\na 0 0\nb 2 1099511627776\nb 10 5\n"
    assert read_offsets(path) == offsets


def test_a_missing_file_says_nothing(tmp_path: Path) -> None:
    assert read_offsets(str(tmp_path / "none")) == {}
    assert read_lines(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"0",
        b"1\n1\nt 0 5\n",
        b"0\n2\nt 0 5\n",
        b"0\nx\nt 0 5\n",
        b"0\n1\nt 0 5\nt 1 6\n",
        b"\xff\xfe",
    ],
)
def test_a_damaged_file_is_not_believed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "checkpoint").write_bytes(data)
    assert read_lines(str(tmp_path / "checkpoint")) is None
    assert read_offsets(str(tmp_path / "checkpoint")) == {}


def test_a_line_that_is_no_offset_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("0\n4\nt 0 5\nt x 5\nt 1 -7\nt 1\n")
    assert read_offsets(str(tmp_path / "checkpoint")) == {TopicPartition("t", 0): 5}
