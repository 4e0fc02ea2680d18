"""A full disk: writes are refused, reads go on, nothing acknowledged is lost, and it passes."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat_tests.bad_input.rows import error_of_produce
from compat_tests.bad_input.talk import exchange
from compat_tests.bad_input.wire import Batch, Reader, produce, record
from compat_tests.disks import Disk, LimitedFiles, SmallTmpfs, can_mount
from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.waiting import eventually

TOPIC = "filled"
VALUE_BYTES = 5_000
KAFKA_STORAGE_ERROR = 56

DISKS: dict[str, Callable[[Path], Disk]] = {"limited files": LimitedFiles}
with tempfile.TemporaryDirectory() as folder:
    if can_mount(Path(folder)):
        DISKS["a small tmpfs"] = SmallTmpfs


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    disk = DISKS[request.param](tmp_path / "data")
    yield disk
    disk.broker.stop()


def _value(number: int) -> bytes:
    return (b"%d:" % number).ljust(VALUE_BYTES, b".")


def _write(broker: BrokerProcess, number: int) -> int:
    """Write one record, without a client that would try again; returns the broker's code."""
    batch = Batch(record(_value(number))).build(time.time_ns() // 1_000_000)
    answer = exchange(broker.bootstrap, produce(TOPIC, batch)).answer
    assert answer is not None
    return error_of_produce(Reader(answer))


def _values(broker: BrokerProcess, count: int) -> list[bytes | None]:
    client = Confluent(broker.bootstrap)
    assert client.first_and_end(TOPIC) == (0, count)
    return [one.value for one in client.read(TOPIC, count)]


def test_writing_stops_and_goes_on_and_nothing_is_lost(disk: Disk, tmp_path: Path) -> None:
    broker = disk.broker
    Confluent(broker.bootstrap).create(TOPIC)
    kept: list[bytes | None] = []
    numbers = iter(range(10_000))

    def write() -> int:
        number = next(numbers)
        code = _write(broker, number)
        if code == 0:
            kept.append(_value(number))
        return code

    assert [write() for _ in range(20)] == [0] * 20
    disk.fill()
    codes = [write() for _ in range(40)]
    assert codes[0] == 0
    assert codes[-20:] == [KAFKA_STORAGE_ERROR] * 20
    assert _values(broker, len(kept)) == kept
    disk.free()
    eventually(write, lambda code: code == 0)
    assert [write() for _ in range(20)] == [0] * 20
    assert _values(broker, len(kept)) == kept
    # The directory says the same to the next broker, whether this one stops or dies.
    if isinstance(disk, LimitedFiles):
        broker.kill()
        again = start_kwire(tmp_path / "data")
        assert _values(again, len(kept)) == kept
        assert again.stop() == 0
