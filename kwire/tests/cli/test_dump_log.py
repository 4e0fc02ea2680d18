"""`kwire dump-log` on files, partitions and whole data directories."""

import json
from pathlib import Path

import pytest

from kwire.cli.main import main
from kwire.tests.builders import A_TIMESTAMP, a_batch, a_record

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one partition of one batch."""
    partition = tmp_path / "orders-0"
    partition.mkdir()
    batch = a_batch([a_record(value=b"two words")])
    (partition / "00000000000000000000.log").write_bytes(batch)
    (partition / "00000000000000000000.index").write_bytes(b"")
    (partition / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (partition / "00000000000000000000.log.deleted").write_bytes(b"rubbish")
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 1\n")
    (tmp_path / "notes.txt").write_text("not ours")
    return tmp_path


def test_a_segment_is_shown_in_kafkas_words(data: Path, capsys: Captured) -> None:
    segment = data / "orders-0" / "00000000000000000000.log"
    assert main(["dump-log", str(segment), "--deep"]) == 0
    title, batch, record = capsys.readouterr().out.splitlines()
    assert title == f"Dumping {segment}"
    assert batch.startswith("baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1")
    assert "isTransactional: false isControl: false deleteHorizonMs: null position: 0" in batch
    assert batch.endswith("isvalid: true")
    assert record == (
        f"| offset: 0 CreateTime: {A_TIMESTAMP} keySize: 3 valueSize: 9 sequence: -1"
        ' headerKeys: [] key: key payload: "two words"'
    )


def test_a_data_directory_is_shown_with_its_partitions_and_nothing_else(
    data: Path, capsys: Captured
) -> None:
    assert main(["dump-log", str(data)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Dumping")] == [
        f"Dumping {data}/recovery-point-offset-checkpoint",
        f"Dumping {data}/orders-0/00000000000000000000.index",
        f"Dumping {data}/orders-0/00000000000000000000.log",
        f"Dumping {data}/orders-0/leader-epoch-checkpoint",
    ]
    assert "topic: orders partition: 0 offset: 1" in lines
    assert "epoch: 0 startOffset: 0" in lines


def test_json_is_an_object_a_line(data: Path, capsys: Captured) -> None:
    assert main(["dump-log", str(data / "orders-0"), "--deep", "--format", "json"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["kind"] for each in shown] == ["batch", "record", "checkpoint"]
    assert shown[0]["file"].endswith("00000000000000000000.log")
    assert shown[1]["payload"] == "two words"


def test_damage_is_told_with_its_place_and_the_exit_code(data: Path, capsys: Captured) -> None:
    segment = data / "orders-0" / "00000000000000000000.log"
    size = segment.stat().st_size
    with segment.open("ab") as file:
        file.write(a_batch(1, base_offset=1)[:-5])
    assert main(["dump-log", str(data), "--quiet"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith(f"DAMAGED {segment}, byte {size}, offset 1: a batch of ")
    assert told.out.count("\n") == 1
    assert told.err == "kwire dump-log: one place is damaged\n"


def test_damage_is_told_in_json_too(data: Path, capsys: Captured) -> None:
    (data / "orders-0" / "leader-epoch-checkpoint").write_text("rubbish")
    assert main(["dump-log", str(data), "-q", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "damage"
    assert found["position"] == 0
    assert found["file"].endswith("leader-epoch-checkpoint")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nothing.log", "No such file or directory"),
        ("notes.txt", "is no file of a log"),
        ("empty", "holds no file of a log"),
    ],
)
def test_what_is_not_there_or_not_ours_is_told_before_anything_is_shown(
    data: Path, capsys: Captured, name: str, complaint: str
) -> None:
    (data / "empty").mkdir()
    assert main(["dump-log", str(data / "orders-0"), str(data / name)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert complaint in told.err


def test_keys_and_payloads_stay_on_their_line(data: Path, capsys: Captured) -> None:
    records = [a_record(0, key=b"", value=b"a\nb"), a_record(1, key=None, value="ü".encode())]
    segment = data / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(a_batch(records))
    assert main(["dump-log", str(segment), "--deep"]) == 0
    first, second = capsys.readouterr().out.splitlines()[2:]
    assert first.endswith('key: "" payload: "a\\nb"')
    assert second.endswith("key: null payload: ü")
