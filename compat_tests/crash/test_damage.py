"""Files that were torn, lost or scribbled on while no broker ran: what a start makes of them.

Every case begins with the same log, of three segments, and ends with a look through a client and
one through Kafka's own `kafka-dump-log`.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.dump import complaints
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

TOPIC = "damaged"
WRITES = 8
PER_WRITE = 1000
RECORDS = WRITES * PER_WRITE

Damage = Callable[[Path], None]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One log as it is after a clean stop, and the same after a kill."""
    folder = tmp_path_factory.mktemp("damage")
    killed, stopped = folder / "killed", folder / "stopped"
    chosen = random.Random(4)
    broker = start_kwire(killed)
    client = Confluent(broker.bootstrap)
    client.create(TOPIC, configs={"segment.bytes": str(1 << 20), "index.interval.bytes": "1000"})
    client.create("healthy")
    client.write("healthy", [Sent(b"fine")])
    for write in range(WRITES):
        records = [Sent(b"%d:" % n + chosen.randbytes(300)) for n in _numbers(write)]
        client.write(TOPIC, records, idempotent=True)
    broker.kill()
    shutil.copytree(killed, stopped)
    assert start_kwire(stopped).stop() == 0
    assert len(list((killed / f"{TOPIC}-0").glob("*.log"))) >= 3
    return {"killed": killed, "stopped": stopped}


def _numbers(write: int) -> range:
    return range(write * PER_WRITE, (write + 1) * PER_WRITE)


@contextmanager
def _running(data_dir: Path) -> Iterator[BrokerProcess]:
    broker = start_kwire(data_dir)
    try:
        yield broker
    finally:
        broker.stop()


def _last_log(data_dir: Path) -> Path:
    return max((data_dir / f"{TOPIC}-0").glob("*.log"))


def _append(junk: bytes) -> Damage:
    def damage(data_dir: Path) -> None:
        with _last_log(data_dir).open("ab") as log:
            log.write(junk)

    return damage


def _last_batch(log: bytes) -> bytes:
    position = 0
    while True:
        size = 12 + int.from_bytes(log[position + 8 : position + 12], "big")
        if position + size == len(log):
            return log[position:]
        position += size


def _tear(data_dir: Path) -> None:
    log = _last_log(data_dir)
    log.write_bytes(log.read_bytes()[:-100])


def _flip_last(data_dir: Path) -> None:
    log = _last_log(data_dir)
    raw = bytearray(log.read_bytes())
    raw[-100] ^= 0x40
    log.write_bytes(raw)


def _half_a_batch(data_dir: Path) -> None:
    log = _last_log(data_dir)
    raw = log.read_bytes()
    log.write_bytes(raw + _last_batch(raw)[:200])


def _the_last_batch_again(data_dir: Path) -> None:
    log = _last_log(data_dir)
    raw = log.read_bytes()
    log.write_bytes(raw + _last_batch(raw))


# What happened to the tail, and whether the last batch can still be whole.
TAILS: dict[str, tuple[Damage, bool]] = {
    "torn": (_tear, False),
    "a bit flipped": (_flip_last, False),
    "zeros": (_append(bytes(4096)), True),
    "a few zeros": (_append(bytes(7)), True),
    "garbage": (_append(random.Random(1).randbytes(5000)), True),
    "half a batch": (_half_a_batch, True),
    "a batch of offsets that were there": (_the_last_batch_again, True),
}


@pytest.mark.jvm
@pytest.mark.parametrize("name", TAILS)
def test_a_damaged_tail_is_cut_after_the_last_good_batch(
    name: str, written: dict[str, Path], tmp_path: Path
) -> None:
    damage, is_whole = TAILS[name]
    data_dir = tmp_path / "data"
    shutil.copytree(written["killed"], data_dir)
    damage(data_dir)
    with _running(data_dir) as broker:
        client = Confluent(broker.bootstrap)
        first, end = client.first_and_end(TOPIC)
        assert first == 0
        if is_whole:
            assert end == RECORDS
        else:
            assert RECORDS - PER_WRITE <= end < RECORDS
        _expect_records(client, end)
        # The log goes on where it ends, and an idempotent producer may write to it.
        assert client.write(TOPIC, [Sent(b"later")], idempotent=True) == [end]
    assert complaints(data_dir) == []


def _each(pattern: str, change: Callable[[Path], None]) -> Damage:
    def damage(data_dir: Path) -> None:
        files = [*(data_dir / f"{TOPIC}-0").glob(pattern), *data_dir.glob(pattern)]
        assert files
        for path in files:
            change(path)

    return damage


def _scribble(path: Path) -> None:
    path.write_bytes(random.Random(2).randbytes(997))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


SIDECARS = {
    "no offset indexes": _each("*.index", Path.unlink),
    "no time indexes": _each("*.timeindex", Path.unlink),
    "scribbled offset indexes": _each("*.index", _scribble),
    "scribbled time indexes": _each("*.timeindex", _scribble),
    "cut offset indexes": _each("*.index", _cut),
    "cut time indexes": _each("*.timeindex", _cut),
    "zeroed indexes": _each("*index", _zero),
    "no snapshots": _each("*.snapshot", Path.unlink),
    "scribbled snapshots": _each("*.snapshot", _scribble),
    "no leader epochs": _each("leader-epoch-checkpoint", Path.unlink),
    "no recovery points": _each("recovery-point-offset-checkpoint", Path.unlink),
    "no high watermarks": _each("replication-offset-checkpoint", Path.unlink),
}


@pytest.mark.parametrize("is_trusted", [True, False], ids=["trusted", "doubted"])
@pytest.mark.parametrize("name", SIDECARS)
def test_what_can_be_made_anew_is_made_anew(
    name: str, is_trusted: bool, written: dict[str, Path], tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(written["stopped"], data_dir)
    SIDECARS[name](data_dir)
    if not is_trusted:
        (data_dir / ".kafka_cleanshutdown").unlink()
    with _running(data_dir) as broker:
        client = Confluent(broker.bootstrap)
        assert client.first_and_end(TOPIC) == (0, RECORDS)
        _expect_records(client, RECORDS)
        assert client.write(TOPIC, [Sent(b"later")], idempotent=True) == [RECORDS]


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_damaged_older_segment_is_reported_and_never_cut(
    how: str, written: dict[str, Path], tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(written[how], data_dir)
    logs = sorted((data_dir / f"{TOPIC}-0").glob("*.log"))
    raw = bytearray(logs[1].read_bytes())
    raw[len(raw) // 2] ^= 1
    logs[1].write_bytes(raw)
    before = [log.read_bytes() for log in logs]
    with _running(data_dir) as broker:
        client = Confluent(broker.bootstrap)
        assert [one.value for one in client.read("healthy", 1)] == [b"fine"]
        if how == "killed":
            told = [line for line in broker.printed if str(logs[1]) in line]
            assert len(told) == 1
            assert "damaged" in told[0]
            with pytest.raises(Exception, match=r"(?i)unknown partition|leader"):
                client.first_and_end(TOPIC)
        else:
            # After a clean stop nothing is read again; whoever reads the batch sees its checksum.
            assert client.first_and_end(TOPIC) == (0, RECORDS)
    assert [log.read_bytes() for log in logs] == before


def _expect_records(client: Confluent, end: int) -> None:
    seen = client.read(TOPIC, end)
    assert [one.offset for one in seen] == list(range(end))
    numbers = [int((one.value or b"").split(b":", 1)[0]) for one in seen]
    assert numbers == list(range(end))
