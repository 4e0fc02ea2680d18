"""Kafka's own tool reads what kwire wrote, after a workload of every kind, and finds no fault."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.dump import complaints
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import CODECS, Sent
from compat_tests.waiting import eventually

SEED = 77
SEGMENT = {"segment.bytes": str(1 << 20), "index.interval.bytes": "500"}
EAGER_CLEANER = {"log.cleaner.backoff.ms": "100", "log.initial.task.delay.ms": "0"}
COMPACTED = {
    **SEGMENT,
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "1000",
}


def _some_records(chosen: random.Random, count: int, keys: int) -> list[Sent]:
    """Records of many sizes, some of them tombstones, spread over two partitions."""
    return [
        Sent(
            None if chosen.random() < 0.05 else chosen.randbytes(int(chosen.expovariate(1 / 300))),
            key=b"key-%d" % chosen.randrange(keys),
            headers=(("n", b"%d" % number),) if chosen.random() < 0.2 else (),
            partition=chosen.randrange(2),
        )
        for number in range(count)
    ]


@pytest.mark.jvm
def test_a_workload_of_every_kind_leaves_clean_files(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    data_dir = tmp_path / "data"
    with start_kwire(data_dir) as broker:
        client = Confluent(broker.bootstrap)
        appended = {**SEGMENT, "message.timestamp.type": "LogAppendTime"}
        recompressed = {**SEGMENT, "compression.type": "lz4"}
        client.create("kept", 2, SEGMENT)
        client.create("stamped", 2, appended)
        client.create("recompressed", 2, recompressed)
        client.create("dropped", 2, SEGMENT)
        for round_number in range(8):
            for topic in ("kept", "stamped", "recompressed", "dropped"):
                records = _some_records(chosen, chosen.choice([1, 30, 1500, 3000]), keys=1000)
                idempotent = bool(round_number % 2)
                client.write(topic, records, codec=chosen.choice(CODECS), idempotent=idempotent)
        client.delete_records("kept", client.first_and_end("kept")[1] // 2)
        client.add_partitions("stamped", 3)
        client.delete("dropped")
        assert broker.stop() == 0
    assert len(list((data_dir / "kept-1").glob("*.log"))) > 1
    assert complaints(data_dir) == []


@pytest.mark.jvm
def test_compaction_leaves_clean_files_and_the_last_of_each_key(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    data_dir = tmp_path / "data"
    with start_kwire(data_dir, EAGER_CLEANER) as broker:
        client = Confluent(broker.bootstrap)
        client.create("compacted", 2, COMPACTED)
        last: dict[bytes | None, bytes | None] = {}
        written = 0
        size = 0
        for number in range(10):
            records = [one._replace(partition=0) for one in _some_records(chosen, 1500, keys=150)]
            client.write(
                "compacted", records, codec=CODECS[number % 5], idempotent=bool(number % 2)
            )
            last.update((one.key, one.value) for one in records)
            written += len(records)
            size += sum(len(one.value or b"") for one in records)
        assert size > 4 * (1 << 20)
        # All but the last segment, of at most 1 MB, shrink to one record for each key.
        eventually(lambda: _size(data_dir / "compacted-0"), lambda now: now < 1.3 * (1 << 20), 30)
        end = client.first_and_end("compacted")[1]
        assert end == written
        seen = client.read_to("compacted", end)
        assert len(seen) < written / 2
        replayed = {one.key: one.value for one in seen}
        assert {key for key, value in replayed.items() if value is not None} == {
            key for key, value in last.items() if value is not None
        }
        assert all(last[key] == value for key, value in replayed.items())
        assert broker.stop() == 0
    assert complaints(data_dir, may_have_gaps=True) == []


def _size(partition: Path) -> int:
    """Bytes of the segments that count; files on their way out do not."""
    size = 0
    for path in partition.glob("*.log"):
        # Compaction swaps files while we look.
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
