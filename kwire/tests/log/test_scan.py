"""Reading a file of batches without believing anything."""

from pathlib import Path

import pytest

from kwire.log import scan
from kwire.log.scan import BatchScan
from kwire.tests.builders import a_batch


def scanned(path: Path, data: bytes) -> tuple[list[int], BatchScan]:
    (path / "file").write_bytes(data)
    found = BatchScan(str(path / "file"), len(data))
    return [position for position, _ in found], found


@pytest.mark.parametrize("read_bytes", [61, 100, 150, 5000])
def test_batches_are_found_however_they_lie_in_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_bytes: int
) -> None:
    monkeypatch.setattr(scan, "READ_BYTES", read_bytes)
    sizes = (100, 3000, 150, 100, 700)
    data = b"".join(a_batch(size_bytes=size) for size in sizes)
    positions, found = scanned(tmp_path, data)
    assert positions == [0, 100, 3100, 3250, 3350]
    assert found.end == len(data)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b"\0" * 30, "less than a header"),
        (b"\0" * 300, "magic 0"),
        (bytes(a_batch(size_bytes=300)[:-1]), "a batch of 300 bytes cannot be"),
        (bytes(a_batch(size_bytes=300)[:-1]) + b"?" * 100, "checksum"),
    ],
)
def test_the_first_bad_batch_ends_the_scan_with_a_reason(
    tmp_path: Path, tail: bytes, reason: str
) -> None:
    positions, found = scanned(tmp_path, bytes(a_batch(size_bytes=200)) + tail)
    assert positions == [0]
    assert found.end == 200
    assert reason in found.reason


def test_who_reads_may_reject_a_batch(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(a_batch(size_bytes=200) + a_batch(size_bytes=300))
    found = BatchScan(str(tmp_path / "file"), 500)
    for position, _ in found:
        if position == 200:
            found.stop("of no use")
            break
    assert (found.end, found.reason) == (200, "of no use")


def test_an_empty_file_has_no_batches(tmp_path: Path) -> None:
    positions, found = scanned(tmp_path, b"")
    assert (positions, found.end) == ([], 0)
